import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { artifact, honest, makeTarget } from '../attacks/kit.ts'
import { needs } from '../crash/needs.ts'
import { binary, callEnv } from '../helpers/cli.ts'
import { must, type TestProject } from '../helpers/project.ts'
import { git } from '../helpers/repo.ts'

setDefaultTimeout(60_000)

const approve = (p: TestProject, ...rest: string[]) =>
  p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id, ...rest])
const gate = async (p: TestProject) => (await p.call(['check-gate', p.loop])).json()

/** A commit of a person on main, with a file that no loop may touch. */
function mainGoesOn(p: TestProject): void {
  writeFileSync(join(p.root, 'AGENTS.md'), 'rules\n')
  p.git('add', 'AGENTS.md')
  p.git('commit', '-qm', 'main goes on')
}

async function ticked(ticks = 2): Promise<TestProject> {
  const p = await makeTarget({ loop: { brakes: { score_plateau_window: 0 } } })
  for (let n = 0; n < ticks; n++) await must(p.tick())
  return p
}

const moves: [string, (p: TestProject) => void][] = [
  ['resets', (p) => git(p.worktree, 'reset', '-q', '--hard', 'HEAD~1')],
  ['amends', (p) => git(p.worktree, 'commit', '-q', '--amend', '-m', 'mine')],
  [
    'rebases',
    (p) => {
      mainGoesOn(p)
      git(p.worktree, 'rebase', '-q', 'main')
    },
  ],
  [
    'removes the worktree and resets',
    (p) => {
      git(p.root, 'worktree', 'remove', '--force', p.worktree)
      p.git('branch', '-f', 'automaton/nightly', 'automaton/nightly~1')
    },
  ],
]

for (const [what, move] of moves) {
  test.concurrent(`a person who ${what} the loop's branch is asked before a session, and approving accepts it`, async () => {
    using p = await ticked()
    move(p)
    const tip = p.git('rev-parse', 'automaton/nightly')
    expect(await gate(p)).toMatchObject({
      ok: false,
      detail: 'tamper:branch',
      fix: 'automaton approve --loop nightly',
    })
    expect((await p.tick()).code).toBe(6)
    expect(p.state()).toMatchObject({ iteration_count: 2, halt: { detail: 'tamper:branch' } })
    await must(approve(p))
    expect(p.state()).toMatchObject({ status: 'running', verified_sha: tip })
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked' })
    expect(await gate(p)).toMatchObject({ ok: true })
  })
}

test.concurrent('--discard puts a branch that was reset back to its verified commit', async () => {
  using p = await ticked()
  const verified = p.state().verified_sha
  git(p.worktree, 'reset', '-q', '--hard', 'HEAD~1')
  await p.tick()
  await must(approve(p, '--discard'))
  expect(p.git('rev-parse', 'automaton/nightly')).toBe(verified)
  await must(p.tick())
})

test.concurrent('approving a branch that a session reset lets the next tick run; one with a file out of scope stays halted', async () => {
  using p = await makeTarget({
    createArgs: ['--scope', 'src/'],
    loop: { brakes: { score_plateau_window: 0 } },
  })
  await must(p.tick())
  const reset = 'git reset -q --hard HEAD~1; git commit -q --allow-empty -m x'
  p.script({ implement: `git config user.name a; git config user.email a@a; ${reset}; ${artifact}` })
  expect((await p.tick()).code).toBe(6)
  writeFileSync(join(p.worktree, 'tool.sh'), 'out\n')
  expect((await approve(p)).code).toBe(3)
  expect(p.state().halt.files).toEqual(['tool.sh'])
  rmSync(join(p.worktree, 'tool.sh'))
  await must(approve(p))
  p.script({ implement: honest.implement ?? '' })
  await must(p.tick())
})

const honestMoves: [string, (p: TestProject) => void][] = [
  [
    'is at main, which took its work by a squash',
    (p) => {
      p.git('merge', '-q', '--squash', 'automaton/nightly')
      p.git('commit', '-qm', 'taken over')
      git(p.worktree, 'reset', '-q', '--hard', 'main')
      writeFileSync(join(p.worktree, 'src/work.txt'), 'not committed\n')
    },
  ],
  [
    'is gone with its worktree, and its commits are there',
    (p) => {
      git(p.root, 'worktree', 'remove', '--force', p.worktree)
      p.git('branch', '-q', '-D', 'automaton/nightly')
    },
  ],
]

for (const [what, move] of honestMoves) {
  test.concurrent(`a tick goes on when the loop's branch ${what}`, async () => {
    using p = await ticked()
    move(p)
    expect(await gate(p)).toMatchObject({ ok: true })
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked' })
    if (what.includes('main')) expect(p.state().base_sha).toBe(p.git('rev-parse', 'main'))
  })
}

test.concurrent('commits that are gone refuse a tick before a session, everybody says so, and sync puts it right', async () => {
  using p = await ticked()
  rmSync(p.worktree, { recursive: true })
  p.git('worktree', 'prune')
  p.git('branch', '-q', '-D', 'automaton/nightly')
  p.git('reflog', 'expire', '--expire=now', '--all')
  p.git('gc', '-q', '--prune=now')
  const fix = 'automaton sync nightly'
  expect(await gate(p)).toMatchObject({
    reason: 'refused:no_git',
    detail: expect.stringContaining('commit is lost'),
    fix,
  })
  const tick = await p.tick()
  expect(tick.code).toBe(5)
  expect(`${tick.stdout}${tick.stderr}`).toContain(fix)
  expect(p.state().iteration_count).toBe(2)
  expect((await p.call(['status', p.loop, '--json'])).json()).toMatchObject({ loops: [{ next: [fix] }] })
  const doctor = (await p.call(['doctor', '--json'])).json()
  expect(doctor.findings).toContainEqual(expect.objectContaining({ what: 'loop nightly', level: 'bad', fix }))
  await must(p.call(['sync', p.loop]))
  await must(p.tick())
})

/** Kills `sync` once its record is in the log and nothing has moved yet. */
async function killedSync(p: TestProject): Promise<void> {
  const inject = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:signal=SIGKILL:when=1']
  const argv = ['strace', '-f', '-qq', '-o', '/dev/null', '-P', join(p.loopDir, '.state.log'), ...inject]
  const env = callEnv({ cwd: p.root, home: p.home })
  const child = Bun.spawn([...argv, binary, 'sync', p.loop], {
    cwd: p.root,
    env,
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await child.exited
}

for (const who of ['tick', 'sync', 'check-gate']) {
  needs('strace')(
    `a sync that was killed after its record is finished by the next ${who}, which halts nothing`,
    async () => {
      using p = await ticked(1)
      writeFileSync(join(p.worktree, 'src/work.txt'), 'not committed\n')
      mainGoesOn(p)
      await killedSync(p)
      expect(existsSync(join(p.loopDir, '.sync-begun'))).toBe(true)
      const { kept, base } = p.log().at(-1).data
      expect(base).toBe(p.git('rev-parse', 'main'))
      expect(p.git('show', `${kept}:src/work.txt`)).toBe('not committed')
      const call = await must(who === 'tick' ? p.tick() : p.call([who, p.loop]))
      if (who === 'sync') expect(call.stdout).toContain(kept)
      if (who !== 'tick') expect(readFileSync(join(p.worktree, 'src/work.txt'), 'utf8')).toBe('start\n')
      expect(existsSync(join(p.worktree, 'AGENTS.md'))).toBe(true)
      expect(existsSync(join(p.loopDir, '.sync-begun'))).toBe(false)
      await must(p.tick())
    },
    60_000,
  )
}
