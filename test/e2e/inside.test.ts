import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { goodAgent, makeProject } from '../helpers/project.ts'

/** Runs a command in a session of the given role and returns its exit code and what it said. */
async function inside(role: 'implement' | 'verify' | 'orchestrate', command: string) {
  const p = await makeProject()
  const note = join(p.scenarioDir, 'note')
  const body = role === 'orchestrate' ? '' : `\n${goodAgent[role]}`
  p.script({ [role]: `(${command}) > ${note} 2>&1; echo "exit $?" >> ${note}${body}` })
  const started = performance.now()
  const call = await p.tick('--json')
  return { p, call, note: readFileSync(note, 'utf8'), ms: performance.now() - started }
}

describe('inside a tick', () => {
  for (const command of [
    'approve --loop nightly --halt x',
    'approve --task fix-it',
    'pause-loop nightly',
    'resume-loop nightly',
    'check-gate nightly',
    'tick nightly',
    'create-task other --brief -',
    'claim fix-it',
    'repair nightly',
    'sync nightly',
    'daemon',
  ]) {
    test(`automaton ${command} is refused at once`, async () => {
      const { p, note, call } = await inside('implement', `automaton ${command} </dev/null`)
      using _ = p
      expect(note).toContain('exit 6')
      expect(call.json()).toMatchObject({ outcome: 'worked', to: 'code_review' })
    })
  }

  for (const command of [
    'status nightly',
    'log nightly',
    'loop-list',
    'task fix-it',
    'task-list',
    'can-continue nightly',
    '--version',
  ]) {
    test(`automaton ${command} works`, async () => {
      const { p, note } = await inside('implement', `automaton ${command}`)
      using _ = p
      expect(note).toContain('exit 0')
    })
  }

  test('only the orchestrate session may name an operation', async () => {
    const { p, note } = await inside('verify', 'automaton transition fix-it code_review')
    using _ = p
    expect(note).toContain('exit 6')
    expect(note).toContain('verify')
  })

  test('a second operation of one session is refused, and the first one counts', async () => {
    const { p, note, call } = await inside(
      'orchestrate',
      'automaton hold && automaton transition fix-it code_review',
    )
    using _ = p
    expect(note).toContain('exit 6')
    expect(call.json()).toMatchObject({ action: 'hold', to: 'implement' })
  })

  test('an operation on another task is refused', async () => {
    const { p, note } = await inside('orchestrate', 'automaton transition other code_review')
    using _ = p
    expect(note).not.toContain('exit 0')
  })

  test('an operation may be named in the final message instead', async () => {
    const p = await makeProject({
      scenario: { orchestrate: `echo 'I decide: {"action":"transition","to":"code_review","reason":"ok"}'` },
    })
    using _ = p
    expect((await p.tick('--json')).json()).toMatchObject({ to: 'code_review' })
  })

  test('an edge that the phase machine does not have becomes a hold with a warning', async () => {
    const { p, call } = await inside('orchestrate', 'automaton transition fix-it complete')
    using _ = p
    expect(call.json()).toMatchObject({ action: 'hold', to: 'implement' })
  })

  test('a failed verdict carries no task forward', async () => {
    const p = await makeProject({ scenario: { verify: `echo '{"pass": false, "score": 0.2}'` } })
    using _ = p
    expect((await p.tick('--json')).json()).toMatchObject({ action: 'hold', to: 'implement' })
  })

  test('an operation that was planted before the session is discarded', async () => {
    const p = await makeProject({
      scenario: {
        implement: `${goodAgent.implement}\necho '{"action":"transition","to":"code_review"}' > .automaton-run/intent.json`,
        orchestrate: 'true',
      },
    })
    using _ = p
    expect((await p.tick('--json')).json()).toMatchObject({ action: 'hold' })
  })
})

describe('two ticks at once', () => {
  test('one runs, and the other says so and exits 0', async () => {
    using p = await makeProject()
    const gate = join(p.scenarioDir, 'go')
    Bun.spawnSync(['mkfifo', gate])
    p.script({ implement: `cat ${gate} > /dev/null\n${goodAgent.implement}` })
    const first = p.tick('--json')
    // A reader of the pipe is there once the first tick's session runs.
    const writer = Bun.spawn(['sh', '-c', `exec 3> ${gate}; read _; exec 3>&-`], { stdin: 'pipe' })
    while (!(await Bun.file(join(p.loopDir, 'run.json')).exists())) await Bun.sleep(10)
    const second = await p.tick('--json')
    expect(second.code).toBe(0)
    expect(second.json()).toMatchObject({ outcome: 'busy' })
    expect(JSON.stringify(second.json())).toContain('pid ')
    const gateCall = await p.call(['check-gate', p.loop])
    expect(gateCall.json()).toMatchObject({ running: true })
    writer.stdin.write('\n')
    await writer.stdin.end()
    expect((await first).json()).toMatchObject({ outcome: 'worked' })
    expect(p.state().iteration_count).toBe(1)
  })
})
