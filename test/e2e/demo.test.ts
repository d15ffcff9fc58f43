import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { binary } from '../helpers/cli.ts'
import { tempDir } from '../helpers/temp.ts'

/** All that the demo needs. */
const programs = ['git', 'sh']

/** A folder that holds those programs and nothing else. */
function bareBin(dir: string): string {
  const bin = join(dir, 'bin')
  mkdirSync(bin)
  for (const name of programs) {
    const path = Bun.which(name)
    if (!path) throw new Error(`${name} is not on PATH`)
    symlinkSync(path, join(bin, name))
  }
  return bin
}

test('the binary alone runs the demo: a task to its end, and a halt that is approved', async () => {
  using dir = tempDir()
  const [home, cwd, tmp] = ['home', 'empty', 'tmp'].map((name) => join(dir.path, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [home, cwd, tmp]) mkdirSync(folder)
  const env = { PATH: bareBin(dir.path), HOME: home, TMPDIR: tmp, LANG: 'C.UTF-8' }
  const child = Bun.spawn([binary, 'demo', '--json'], { cwd, env, stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  await child.exited
  expect(stderr).toContain('halted: drift_detected, README.md')
  expect(child.exitCode).toBe(0)

  // It tells of both loops as it goes.
  expect(stderr).toContain('referee → complete')
  expect(stderr).toMatch(/automaton approve --loop tidy --halt \w+ --discard/)
  const report = JSON.parse(stdout)
  expect(report).toMatchObject({
    schema: 1,
    complete: { loop: 'nightly', task: 'fix-slug', branch: 'automaton/nightly' },
    braked: { loop: 'tidy', halt: { reason: 'drift_detected', files: ['README.md'] }, after: 'code_review' },
  })

  // It all happened in a throwaway folder.
  expect(report.folder.startsWith(tmp)).toBe(true)
  expect(readdirSync(cwd)).toEqual([])
  expect(readdirSync(tmp)).toHaveLength(1)
  expect(readdirSync(home)).toEqual([])

  // The loops are where the demo says that they are.
  const status = spawnSync(binary, ['status', '--json'], { cwd: report.repository, env, encoding: 'utf8' })
  const [nightly, tidy] = JSON.parse(status.stdout).loops
  expect(nightly).toMatchObject({ loop: 'nightly', status: 'complete', halt: null, task: null })
  expect(tidy).toMatchObject({ loop: 'tidy', status: 'running', task: 'say-usage', phase: 'code_review' })

  // The work is real: on the branch the package's own test passes, on main it still fails, and main did not move.
  const git = (...args: string[]) =>
    spawnSync('git', args, { cwd: report.repository, encoding: 'utf8' }).stdout
  expect(git('rev-list', '--count', 'main').trim()).toBe('1')
  expect(git('diff', '--name-only', 'main', 'automaton/nightly').trim()).toBe('bin/slug')
  const run = () => spawnSync('sh', ['test/run.sh'], { cwd: report.repository }).status
  expect(run()).toBe(1)
  git('checkout', '-q', '--detach', 'automaton/nightly')
  expect(run()).toBe(0)
}, 60_000)

test('the demo tells a person what happened and what to type next', async () => {
  using dir = tempDir()
  const env = { PATH: bareBin(dir.path), HOME: dir.path, TMPDIR: dir.path, LANG: 'C.UTF-8', COLUMNS: '72' }
  const child = Bun.spawn([binary, 'demo'], { cwd: dir.path, env, stdout: 'pipe', stderr: 'ignore' })
  const text = await new Response(child.stdout).text()
  await child.exited
  expect(child.exitCode).toBe(0)
  for (const words of ['nightly took fix-slug from implement to complete', 'main was not touched']) {
    expect(text.replace(/\s+/g, ' ')).toContain(words)
  }
  for (const command of ['automaton init', 'automaton create-loop nightly', 'automaton tick nightly']) {
    expect(text).toContain(command)
  }
}, 60_000)

test.each([
  ['git', 'automaton: git not found (git)'],
  ['sh', 'automaton: cannot run (sh): it is in no folder of PATH'],
])('without %s the demo says so at once and leaves nothing behind', (name, says) => {
  using dir = tempDir()
  const bin = bareBin(dir.path)
  rmSync(join(bin, name))
  const tmp = join(dir.path, 'tmp')
  mkdirSync(tmp)
  const env = { PATH: bin, HOME: dir.path, TMPDIR: tmp, LANG: 'C.UTF-8' }
  const done = spawnSync(binary, ['demo'], { cwd: dir.path, env, encoding: 'utf8' })
  expect(done.status).toBe(5)
  expect(done.stderr).toStartWith(says)
  expect(readdirSync(tmp)).toEqual([])
})
