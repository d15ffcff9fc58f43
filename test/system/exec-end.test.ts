import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ExecOptions, exec } from '../../src/system/exec.ts'
import { subreaper } from '../../src/system/native.ts'
import { findByEnv } from '../../src/system/process.ts'
import { processTable } from '../../src/system/process-table.ts'
import { tempDir } from '../helpers/temp.ts'

// As in a tick: orphans come to this process.
beforeAll(() => void subreaper())

const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' }
const dir = tempDir()
afterAll(() => dir[Symbol.dispose]())

const run = (argv: string[], options: Partial<ExecOptions> = {}) =>
  exec({ argv, cwd: dir.path, env, ...options })
const sh = (script: string, options: Partial<ExecOptions> = {}) => run(['sh', '-c', script], options)

describe('what a program leaves behind', () => {
  test('a process that holds the pipe delays nothing and is ended', async () => {
    const result = await sh('sleep 60.01 & echo done')
    expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n', survivors: 1 })
    expect(result.seconds).toBeLessThan(2)
    expect(running('sleep 60.01')).toEqual([])
  })

  test('a process that left the session and cleaned its environment is ended too', async () => {
    const script = `(env -i setsid sh -c 'trap "" TERM; sleep 60.02 & exec sleep 60.02' >/dev/null 2>&1 &); sleep 0.1; echo done`
    const result = await sh(script)
    expect(result).toMatchObject({ exitCode: 0, stdout: 'done\n', survivors: 2 })
    expect(running('sleep 60.02')).toEqual([])
  })

  test('what carries the run id is ended even where orphans do not come to this process', async () => {
    const file = join(dir.path, 'no-subreaper.ts')
    writeFileSync(
      file,
      `import { exec } from '${join(import.meta.dir, '../../src/system/exec.ts')}'
       const r = await exec({ argv: ['sh', '-c', '(setsid sleep 60.03 >/dev/null 2>&1 &); sleep 0.1'], cwd: '/',
         env: { ...process.env, AUTOMATON_RUN_ID: 'run-7' }, runId: 'run-7' })
       console.log(r.survivors)`,
    )
    const child = Bun.spawnSync([process.execPath, file], { env, stderr: 'inherit' })
    expect(child.stdout.toString()).toBe('1\n')
    expect(findByEnv('AUTOMATON_RUN_ID', 'run-7')).toEqual([])
  })

  test('another program of the same run is spared', async () => {
    const shared = { runId: 'run-8', env: { ...env, AUTOMATON_RUN_ID: 'run-8' } }
    const long = sh('sleep 0.3; echo whole', shared)
    await sh('(setsid sleep 60.04 &); sleep 0.05', shared)
    expect(running('sleep 60.04')).toEqual([])
    expect(await long).toMatchObject({ exitCode: 0, stdout: 'whole\n' })
  })

  test('two hundred runs leave no zombie and no open file', async () => {
    const zombies = () => processTable().filter((row) => row.parent === process.pid && row.zombie).length
    const files = () => readdirSync('/proc/self/fd').length
    await sh('(setsid true &) ; true')
    const before = files()
    for (let i = 0; i < 200; i++) await sh('(setsid true &) ; true', { runId: 'run-9' })
    // The last orphan may still be dying when its run ends; the next run collects it.
    while (processTable().some((row) => row.parent === process.pid && !row.zombie)) await Bun.sleep(5)
    await sh('true', { runId: 'run-9' })
    expect(zombies()).toBe(0)
    expect(files()).toBeLessThanOrEqual(before)
  }, 30_000)
})

describe('a program that has to be ended', () => {
  test('over its time limit it gets SIGTERM and may clean up', async () => {
    const result = await sh(`trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.02; done`, {
      timeoutMs: 150,
    })
    expect(result).toMatchObject({ ended: 'timeout', exitCode: 9, stdout: 'up\nbye\n' })
  })

  test('one that ignores SIGTERM is killed after the grace time with its children', async () => {
    const script = `trap '' TERM; (setsid sh -c 'trap "" TERM; while :; do sleep 0.0201; done' &); while :; do sleep 0.02; done`
    const result = await sh(script, { timeoutMs: 150, graceMs: 150 })
    expect(result).toMatchObject({ ended: 'timeout', exitCode: null, signal: 'SIGKILL' })
    expect(result.seconds).toBeLessThan(3)
    expect(result.survivors).toBeGreaterThanOrEqual(1)
    expect(running('sleep 0.0201')).toEqual([])
  })

  test('it may end in good order what it runs in another session', async () => {
    const script = `setsid sh -c 'trap "echo helper got TERM; exit" TERM; while :; do sleep 0.0202; done' & helper=$!
      trap 'sleep 0.1; kill -KILL $helper; echo ended it; exit 0' TERM
      echo up; while :; do sleep 0.02; done`
    const result = await sh(script, { timeoutMs: 200 })
    expect(result).toMatchObject({ ended: 'timeout', exitCode: 0, stdout: 'up\nended it\n' })
  })

  test('a stopped one is killed', async () => {
    const result = await sh('kill -STOP $$', { timeoutMs: 100, graceMs: 50 })
    expect(result).toMatchObject({ ended: 'timeout', signal: 'SIGKILL' })
  })

  test('silence ends it, and any output on either stream starts the time anew', async () => {
    const silent = await sh('echo once; sleep 60', { idleMs: 200 })
    expect(silent).toMatchObject({ ended: 'idle', stdout: 'once\n' })
    const chatty = await sh('for i in 1 2 3 4 5 6; do echo $i >&2; sleep 0.1; done; exit 2', { idleMs: 400 })
    expect(chatty).toMatchObject({ ended: 'exit', exitCode: 2 })
  })

  test('an endless flood does not keep the time limit from acting', async () => {
    const result = await sh('yes', { timeoutMs: 200, onLine: () => {} })
    expect(result.ended).toBe('timeout')
    expect(result.seconds).toBeLessThan(5)
  })

  test('a limit of thirty days, or longer than any timer, does not fire at once', async () => {
    const result = await run(['sleep', '0.1'], { timeoutMs: 30 * 86_400_000, idleMs: 1e15 })
    expect(result).toMatchObject({ ended: 'exit', exitCode: 0 })
  })

  test('an abort ends it', async () => {
    const abort = new AbortController()
    const result = await sh('sleep 60', { signal: abort.signal, onSpawn: () => abort.abort() })
    expect(result).toMatchObject({ ended: 'aborted', signal: 'SIGTERM' })
  })

  test('an abort that came before starts nothing', async () => {
    const result = await run(['touch', 'never'], { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ ended: 'aborted', exitCode: null })
    expect(readdirSync(dir.path)).not.toContain('never')
  })

  test.each(['onSpawn', 'onLine'] as const)('an error in %s ends it and is thrown', async (callback) => {
    const boom = () => {
      throw new Error(`boom in ${callback}`)
    }
    expect(sh('echo line; exec sleep 60.05', { [callback]: boom })).rejects.toThrow(`boom in ${callback}`)
    await sh('true')
    while (running('sleep 60.05').length > 0) await Bun.sleep(10)
  })
})

/** The living processes whose command line is exactly this. */
function running(command: string): number[] {
  return processTable()
    .filter((row) => !row.zombie)
    .map((row) => row.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() === command
      } catch {
        return false
      }
    })
}
