import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { automaton, binary, callEnv } from '../helpers/cli.ts'
import { tempDir } from '../helpers/temp.ts'

interface Report {
  ok: boolean
  version: string
  system: string
  checks: { what: string; ok: boolean; why: string; seconds: number }[]
}

/** An empty folder to call it in, with a temporary folder of its own. */
function place(path: string) {
  const [cwd, home, tmp] = ['empty', 'home', 'tmp'].map((name) => join(path, name))
  if (!cwd || !home || !tmp) throw new Error('no places')
  for (const dir of [cwd, home, tmp]) mkdirSync(dir)
  const env = { TMPDIR: tmp }
  return {
    cwd,
    home,
    tmp,
    env,
    call: (more = {}) => automaton(['doctor', '--self', '--json'], { cwd, home, env: { ...env, ...more } }),
  }
}

test('doctor --self does what ticks are made of, without a project, and leaves nothing behind', async () => {
  using dir = tempDir()
  const { cwd, home, tmp, env, call } = place(dir.path)
  const run = await call()
  expect(run.stderr).toBe('')
  const { ok, system, checks } = run.json() as unknown as Report
  expect(checks.filter((check) => !check.ok)).toEqual([])
  expect({ ok, code: run.code }).toEqual({ ok: true, code: 0 })
  const all = ['write', 'lock', 'spawn', 'kill', 'worktree', 'drift', 'plugin', 'sandbox', 'clean']
  expect(checks.map(({ what }) => what)).toEqual(all)
  expect(checks.every(({ why, seconds }) => why !== '' && seconds >= 0)).toBe(true)
  expect(system).toStartWith(`${process.platform} ${process.arch} `)
  for (const folder of [cwd, home, tmp]) expect(readdirSync(folder)).toEqual([])
  const text = await automaton(['doctor', '--self'], { cwd, home, env })
  expect(text.stdout).toMatch(/^automaton \S+, \w+ \w+ .*\n\nok {4}write .*\n/)
  expect(text.stdout).toMatch(/\nthis program works here \(\d+\.\d s\)\n$/)
}, 60_000)

test('a check that fails says why, keeps none of the others from running, and makes the exit code 3', async () => {
  using dir = tempDir()
  const { call, tmp } = place(dir.path)
  const bin = join(dir.path, 'bin')
  mkdirSync(bin)
  symlinkSync(Bun.which('true') ?? '/bin/true', join(bin, 'true'))
  const run = await call({ PATH: bin })
  const { ok, checks } = run.json() as unknown as Report
  expect({ ok, code: run.code }).toEqual({ ok: false, code: 3 })
  expect(checks.filter((check) => !check.ok).map(({ what }) => what)).toEqual(['worktree', 'drift'])
  expect(checks.find(({ what }) => what === 'worktree')?.why).toContain('git')
  expect(readdirSync(tmp)).toEqual([])
}, 60_000)

test('a temporary folder that cannot be used is named', async () => {
  using dir = tempDir()
  const run = await place(dir.path).call({ TMPDIR: join(dir.path, 'none') })
  expect(run.code).toBe(5)
  expect(run.stderr).toContain(`${join(dir.path, 'none')}`)
})

test('doctor --self that is told to stop ends what it started and leaves nothing behind', async () => {
  using dir = tempDir()
  const { cwd, home, tmp, env } = place(dir.path)
  const child = Bun.spawn([binary, 'doctor', '--self'], {
    cwd,
    env: callEnv({ cwd, home, env }),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  while (!readdirSync(tmp, { recursive: true }).some((name) => `${name}`.endsWith('child')))
    await Bun.sleep(5)
  child.kill('SIGTERM')
  expect(await child.exited).toBe(143)
  expect(readdirSync(tmp)).toEqual([])
}, 60_000)
