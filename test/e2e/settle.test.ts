import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { acquire } from '../../src/store/lock.ts'
import { needs } from '../crash/needs.ts'
import { binary, callEnv, readCall } from '../helpers/cli.ts'
import { until } from '../helpers/daemon.ts'
import { makeProject, must } from '../helpers/project.ts'

test('a tick whose sessions are paid for waits for another writer of tasks, longer than others do', async () => {
  const wait = 'touch ../../../../asks; while [ ! -e ../../../../goes ]; do sleep 0.05; done'
  using p = await makeProject({ scenario: { verify: `${wait}\necho '{"pass": false, "score": 0.3}'` } })
  const tick = p.tick()
  await until(() => existsSync(join(p.root, 'asks')))
  const lock = await acquire(join(p.root, '.automaton/cache/tasks.lock'), { waitMs: 0, folder: false })
  if (lock.busy) throw new Error(lock.holder)
  writeFileSync(join(p.root, 'goes'), '')
  await until(() => existsSync(join(p.loopDir, 'outputs/tick1-verdict.json')))
  // Whoever waits for less than a paid tick has given up by now.
  await must(p.call(['status']))
  const other = await p.call(['create-task', 'other', '--brief', '-'], { stdin: 'Other.\n' })
  expect(other.stderr).toContain('tasks')
  expect(other.code).toBe(3)
  lock.release()
  await must(tick)
  expect(p.state()).toMatchObject({ iteration_count: 1, incomplete_ticks: 0 })
}, 60_000)

needs('strace')(
  'a pause that is asked for while a tick writes its end is kept for the next one',
  async () => {
    using p = await makeProject()
    const log = join(p.loopDir, '.state.log')
    const slow = ['-qq', '-o', '/dev/null', '-P', log, '-e', 'inject=fsync,fdatasync:delay_enter=1500000']
    const options = { cwd: p.root, home: p.home }
    const tick = Bun.spawn(['strace', ...slow, binary, 'tick', p.loop], {
      cwd: p.root,
      env: callEnv(options),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    await until(() => existsSync(log) && /"type":"tick"/.test(readFileSync(log, 'utf8')))
    await must(p.call(['pause-loop', p.loop]))
    await must(readCall(tick))
    expect(p.state().status).toBe('running')
    expect((await p.tick()).code).toBe(3)
    expect(p.state()).toMatchObject({ status: 'paused', iteration_count: 1 })
  },
  60_000,
)

test('a temporary folder that is missing is named, before anything is paid for', async () => {
  using p = await makeProject()
  const missing = join(p.home, 'none')
  const call = await p.call(['tick', p.loop], { env: { TMPDIR: missing } })
  expect(call.code).toBe(5)
  expect(call.stderr).toContain(missing)
  expect(existsSync(join(p.scenarioDir, '.ran-implement-1'))).toBe(false)
  await must(p.tick())
})
