import { describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { deaths } from '../../src/api/hooks.ts'
import { commit, readLog } from '../../src/store/journal.ts'
import { findRepository } from '../../src/system/repository.ts'
import { ensureWorktree } from '../../src/system/worktree.ts'
import { binary, callEnv } from '../helpers/cli.ts'
import { git } from '../helpers/repo.ts'
import { halt, makeTask, type Scratch, withLoop } from './fixture.ts'

/** Gives a loop a worktree as its first tick does. */
async function withWorktree(...options: string[]): Promise<Scratch> {
  const s = await withLoop('nightly', ...options)
  const repo = findRepository(s.root)
  if (!repo) throw new Error('no repository')
  const base = git(s.root, 'rev-parse', 'main')
  const places = s.places('nightly')
  await ensureWorktree({ repo, path: places.worktree, branch: 'automaton/nightly', base })
  const state = s.state('nightly')
  const next = { ...state, base_sha: base, verified_sha: base }
  const at = new Date().toISOString()
  commit(places, state, next, { type: 'test', run: null, by: 'test', at, data: {} })
  return s
}

describe('approve --loop', () => {
  test.each([...deaths])('clears a halt of %s and moves the baselines', async (reason) => {
    using s = await withLoop()
    const id = halt(s, 'nightly', { reason })
    const call = await s.run('approve', '--loop', 'nightly', '--halt', id, '--note', 'looked at it')
    expect(call.stderr).toBe('')
    expect(call.code).toBe(0)
    expect(call.stdout).toContain('automaton tick nightly')
    expect(s.state('nightly')).toMatchObject({ status: 'running', halt: null, resumed_count: 1 })
    const record = readLog(s.places('nightly')).at(-1)
    expect(record).toMatchObject({ type: 'approve', by: 'human' })
    expect(record?.data).toMatchObject({ halt: id, reason, note: 'looked at it', terminal: null })
    expect(record?.data.user).toBeString()
  })

  test('is for one halt and used once', async () => {
    using s = await withLoop()
    const id = halt(s, 'nightly', { reason: 'verifier_failed' })
    const wrong = await s.run('approve', '--loop', 'nightly', '--halt', 'zzz')
    expect(wrong.code).toBe(3)
    expect(wrong.stderr).toContain('is not the halt that the loop has now')
    expect((await s.run('approve', '--loop', 'nightly', '--halt', id)).code).toBe(0)
    const replay = await s.run('approve', '--loop', 'nightly', '--halt', id)
    expect(replay.code).toBe(3)
    expect(replay.stderr).toContain('the loop is running')
    expect(s.state('nightly').resumed_count).toBe(1)
  })

  test('without a terminal it needs the halt, whatever is piped in', async () => {
    using s = await withLoop()
    const id = halt(s, 'nightly', { reason: 'verifier_failed' })
    const call = await s.call(['approve', '--loop', 'nightly'], { stdin: `${id}\n`.repeat(100) })
    expect(call.code).toBe(3)
    expect(call.stderr).toContain(`fix: automaton approve --loop nightly --halt ${id}`)
    expect(s.state('nightly').status).toBe('halted')
  })

  test.if(Bun.which('script') !== null)(
    'at a terminal it shows the halt and wants its name typed',
    async () => {
      using s = await withLoop()
      const id = halt(s, 'nightly', {
        reason: 'drift_detected',
        detail: '1 out of scope',
        files: ['evil\u001b[2J.txt'],
      })
      const ask = (answer: string) =>
        spawnSync('script', ['-qec', `${binary} approve --loop nightly`, '/dev/null'], {
          cwd: s.root,
          env: callEnv({ cwd: s.root, home: s.home }),
          input: `${answer}\n`,
          encoding: 'utf8',
        })
      const wrong = ask('yes')
      expect(wrong.stdout).toContain('drift_detected (1 file out of scope)')
      expect(wrong.stdout).toContain('evil\\x1b[2J.txt')
      expect(wrong.stdout).toContain(`Type ${id} to approve`)
      expect(wrong.status).toBe(3)
      expect(s.state('nightly').status).toBe('halted')
      expect(ask(id).status).toBe(0)
      expect(s.state('nightly').status).toBe('running')
      expect(readLog(s.places('nightly')).at(-1)?.data.terminal).toBeString()
    },
  )

  test('after drift it looks again, halts anew with a new id, and names the ways out', async () => {
    using s = await withWorktree('--scope', 'src/')
    writeFileSync(join(s.places('nightly').worktree, 'README.md'), 'changed\n')
    const id = halt(s, 'nightly', { reason: 'drift_detected', files: ['README.md'] })
    const call = await s.run('approve', '--loop', 'nightly', '--halt', id)
    expect(call.code).toBe(3)
    expect(call.stdout).toContain('README.md')
    expect(call.stdout).toContain('--discard')
    const { status, halt: again } = s.state('nightly')
    expect(status).toBe('halted')
    expect(again?.id).not.toBe(id)
    expect(again?.files).toEqual(['README.md'])
    const thrown = ['approve', '--loop', 'nightly', '--halt', again?.id ?? '', '--discard', '--json']
    const report = (await s.run(...thrown)).json()
    expect(report).toMatchObject({ approved: true, status: 'running' })
    expect(git(s.root, 'show', `${report.kept}:README.md`)).toBe('changed')
    expect(git(s.places('nightly').worktree, 'status', '--porcelain')).toBe('')
  })

  test('--discard, killed before it was written down and typed again, goes on with the same ref', async () => {
    using s = await withWorktree('--scope', 'src/')
    const { worktree, state, log } = s.places('nightly')
    writeFileSync(join(worktree, 'README.md'), 'changed\n')
    const id = halt(s, 'nightly', { reason: 'drift_detected', files: ['README.md'] })
    const ref = `refs/automaton/kept/nightly/${s.state('nightly').halt?.at.replaceAll(/[-:.]/g, '')}`
    const lock = join(s.root, '.git', `${ref}.lock`)
    mkdirSync(dirname(lock), { recursive: true })
    // What a git leaves that was killed while it made the ref.
    writeFileSync(lock, '')
    const before = [state, log].map((file) => ({ file, bytes: readFileSync(file) }))
    const discard = ['approve', '--loop', 'nightly', '--halt', id, '--discard', '--json']
    expect((await s.run(...discard)).json()).toMatchObject({ approved: true, kept: ref })
    expect(existsSync(lock)).toBe(false)
    for (const { file, bytes } of before) writeFileSync(file, bytes)
    expect((await s.run(...discard)).json()).toMatchObject({ approved: true, kept: ref })
    expect(git(s.root, 'show', `${ref}:README.md`)).toBe('changed')
    expect(readLog(s.places('nightly')).at(-1)?.data.kept).toBe(ref)
  })

  test('after drift that was put right it simply clears', async () => {
    using s = await withWorktree('--scope', 'src/')
    const id = halt(s, 'nightly', { reason: 'drift_detected', files: ['README.md'] })
    expect((await s.run('approve', '--loop', 'nightly', '--halt', id)).code).toBe(0)
  })

  test('takes a loop or a task, and their own options', async () => {
    using s = await withLoop()
    expect((await s.run('approve')).stderr).toStartWith('automaton: missing option (automaton approve): ')
    for (const args of [
      [],
      ['--loop', 'a', '--task', 'b'],
      ['--task', 'b', '--discard'],
      ['--loop', 'a', '--to', 'x'],
    ]) {
      expect((await s.run('approve', ...args)).code).toBe(2)
    }
  })
})

describe('approve --task', () => {
  test('lets a task leave human_intervention, back to where it was', async () => {
    using s = await withLoop()
    await makeTask(s, 't')
    const moved = await s.run('transition', 't', 'human_intervention', '--reason', 'the brief lies')
    expect(moved.code).toBe(0)
    expect((await s.run('status')).stdout).toContain('t waits for you: the brief lies')
    expect((await s.run('transition', 't', 'implement')).code).toBe(3)
    const call = await s.run('approve', '--task', 't', '--json')
    expect(call.json()).toMatchObject({ task: 't', from: 'human_intervention', to: 'implement' })
  })

  test('starts a task from design only with a design', async () => {
    using s = await withLoop()
    await makeTask(s, 'a', '--phase', 'design')
    await makeTask(s, 'b', '--phase', 'design', '--design', 'README.md')
    expect((await s.run('approve', '--task', 'a')).code).toBe(3)
    expect((await s.run('approve', '--task', 'b', '--json')).json()).toMatchObject({ to: 'decompose' })
  })
})
