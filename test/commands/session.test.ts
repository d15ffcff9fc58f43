import { expect, test } from 'bun:test'
import { writeRun } from '../../src/store/run.ts'
import { identify } from '../../src/system/process.ts'
import { binary, callEnv } from '../helpers/cli.ts'
import { halt, makeTask, type Scratch, withLoop } from './fixture.ts'

/** Runs shell lines in a process that the loop's run.json calls its session, all markers unset. */
async function asSession(s: Scratch, loop: string, script: string) {
  const child = Bun.spawn(['bash', '-c', `read -r _; ${script}`], {
    cwd: s.root,
    env: { ...callEnv({ cwd: s.root, home: s.home }), A: binary },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const session = identify(child.pid)
  if (!session) throw new Error('no process')
  writeRun(s.places(loop), {
    schema: 1,
    run: 'r1',
    loop,
    tick: 1,
    task: 't',
    phase: 'implement',
    step: 'implement',
    automaton: session,
    session: { pid: session.pid, group: session.pid, start: session.start },
    started_at: new Date().toISOString(),
    state_seq: 1,
    before: { head: null, verified_sha: null, base_sha: null },
    brakes: {},
    repository: null,
    usage: { usd: 0, tokens: 0, unreported: 0 },
  })
  child.stdin.write('\n')
  child.stdin.end()
  const stderr = await new Response(child.stderr).text()
  return { code: await child.exited, stderr }
}

test('a session that unset its markers still cannot approve, pause or claim', async () => {
  using s = await withLoop()
  await makeTask(s, 't')
  const id = halt(s, 'nightly', { reason: 'verifier_failed' })
  for (const args of [
    `approve --loop nightly --halt ${id}`,
    'pause-loop nightly',
    'claim t',
    'transition t code_review',
  ]) {
    const call = await asSession(s, 'nightly', `env -u AUTOMATON_IN_TICK "$A" ${args}`)
    expect(call.stderr).toContain('refused inside a tick')
    expect(call.code).toBe(6)
  }
  expect(s.state('nightly').status).toBe('halted')
})

test('it may look, and so may a person who merely works beside it', async () => {
  using s = await withLoop()
  expect((await asSession(s, 'nightly', '"$A" status')).code).toBe(0)
  expect((await s.run('claim-loop-task', 'nightly', '--task', 'none')).code).toBe(2)
})
