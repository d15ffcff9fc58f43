import { describe, expect, test } from 'bun:test'
import { cpSync, existsSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkWhole, livingSessions, lookBefore } from '../helpers/invariants.ts'
import { goodAgent, makeProject, must, type TestProject } from '../helpers/project.ts'
import { start, until } from './loops.ts'

const linux = (name: string, run: () => Promise<void>) =>
  test.skipIf(process.platform !== 'linux')(name, run, 60_000)

/** Lets the agent say where it is, and wait there. */
const waits = 'touch "$AUTOMATON_HOME.here"; sleep 300'
const deaf = `trap "" TERM INT HUP; ${waits}`

function here(p: TestProject): string {
  return `${p.home}/.automaton.here`
}

async function reached(p: TestProject): Promise<void> {
  await until(() => existsSync(here(p)), 'the session comes to its waiting place')
}

async function killedWhere(p: TestProject): Promise<void> {
  const tick = start(p, 'tick', p.loop)
  await reached(p)
  tick.kill('SIGKILL')
  await tick.exited
  unlinkSync(here(p))
}

describe('a tick that is killed', () => {
  linux('during implement: the next one ends its session first, keeps its work, counts nothing', async () => {
    using p = await makeProject({
      scenario: { 'implement-1': `echo half >> src/work.txt; setsid sleep 300 & ${deaf}` },
    })
    const before = lookBefore(p)
    await killedWhere(p)
    expect(livingSessions(p).length).toBeGreaterThan(0)
    const next = (await must(p.tick('--json'))).json()
    expect(next).toMatchObject({ outcome: 'worked', tick: 1 })
    expect(next.recovered).toMatch(/^previous tick \S+ did not finish \(phase implement, step implement\)/)
    const [record] = p.log().filter(({ type }) => type === 'incomplete')
    expect(record.state).toMatchObject({ incomplete_ticks: 1, iteration_count: 0 })
    expect(p.git('show', `${record.data.kept}:src/work.txt`)).toContain('half')
    expect(p.git('show', 'automaton/nightly:src/work.txt')).not.toContain('half')
    expect(checkWhole(p, before)).toEqual([])
  })

  for (const role of ['verify', 'orchestrate']) {
    linux(`during ${role}: what was said before it died is not used again`, async () => {
      using p = await makeProject({
        scenario: {
          [`${role}-1`]: `${role === 'verify' ? 'echo \'{"pass": true, "score": 1}\' > "$AUTOMATON_OUTPUT"' : 'automaton transition fix-it code_review'}; ${waits}`,
          [`${role}-2`]: role === 'verify' ? 'echo \'{"pass": false, "score": 0.2}\'' : 'automaton hold',
        },
      })
      const before = lookBefore(p)
      await killedWhere(p)
      expect(p.state().iteration_count).toBe(0)
      const next = (await must(p.tick('--json'))).json()
      expect(next.recovered).toContain(`step ${role}`)
      expect(next).toMatchObject({ outcome: 'worked', tick: 1, to: 'implement', action: 'hold' })
      expect(p.state().score_history).toEqual([role === 'verify' ? 0.2 : 0.9])
      expect(checkWhole(p, before)).toEqual([])
    })
  }

  linux('three times in a row halts the loop, and an approval lets it run again', async () => {
    using p = await makeProject({ scenario: { implement: 'kill -9 $PPID; sleep 300' } })
    for (let n = 0; n < 3; n++) expect((await p.tick()).code).toBeNull()
    const call = await p.tick('--scheduled')
    // This tick halted the loop, and a scheduler's mail says so.
    expect(call.code).toBe(4)
    expect(call.stdout).toContain('too many ticks in a row died')
    expect(p.state()).toMatchObject({
      status: 'halted',
      iteration_count: 0,
      halt: { reason: 'human_intervention', detail: 'repeated_crash' },
    })
    p.script({ implement: goodAgent.implement ?? '' })
    await must(p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id]))
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked', tick: 1 })
  })

  linux(
    'under a money cap: what its session spent is unknown, and the cap holds before the next',
    async () => {
      using p = await makeProject({
        loop: { brakes: { max_budget_usd: 1 } },
        scenario: { implement: `echo $$ >> "$AUTOMATON_HOME.ran"; ${waits}` },
      })
      await killedWhere(p)
      expect((await p.tick()).code).toBe(3)
      expect(p.state().halt).toMatchObject({ reason: 'budget_exhausted', detail: 'budget_unknown' })
      expect(readFileSync(`${p.home}/.automaton.ran`, 'utf8').trim().split('\n')).toHaveLength(1)
    },
  )

  linux('under a cap on time: what it ran counts, so that ticks that always die are held', async () => {
    using p = await makeProject({
      loop: { brakes: { max_wall_seconds: 1, max_consecutive_errors: 100 } },
      scenario: { implement: 'echo working; sleep 1.2; echo still; kill -9 $PPID; sleep 300' },
    })
    expect((await p.tick()).code).toBeNull()
    expect((await p.tick()).code).toBe(3)
    expect(p.state()).toMatchObject({ iteration_count: 0, halt: { reason: 'budget_exhausted' } })
    expect(p.state().wall_seconds).toBeGreaterThan(1)
  })

  linux('a clean-up that has the work of two of them loses neither', async () => {
    using p = await makeProject({ scenario: { 'implement-1': `echo one >> src/work.txt; ${waits}` } })
    await killedWhere(p)
    // As if the first recovery had been killed before its end, and the worktree had changed before the second.
    const kept = join(p.home, 'kept')
    const files = ['loops/nightly/run.json', 'loops/nightly/.state.log', 'loops/nightly/.state.loop', 'tasks']
    const automaton = join(p.root, '.automaton')
    for (const file of files) cpSync(join(automaton, file), join(kept, file), { recursive: true })
    await must(p.tick())
    const ref = p.log().find(({ type }) => type === 'incomplete').data.kept
    for (const file of files) {
      rmSync(join(automaton, file), { recursive: true, force: true })
      cpSync(join(kept, file), join(automaton, file), { recursive: true })
    }
    writeFileSync(join(p.worktree, 'src', 'two.txt'), 'two\n')
    await must(p.tick())
    expect(p.git('log', '-p', '--format=', ref)).toContain('+one')
    expect(p.git('log', '-p', '--format=', ref)).toContain('+two')
  })
})

describe('what run.json names', () => {
  const cases: [string, (run: Json) => unknown][] = [
    ['of another start of the machine', (run) => Object.assign(run.automaton, { boot: 'another-boot' })],
    ['with another start time', (run) => Object.assign(run.session, { start: '1' })],
  ]
  for (const [name, change] of cases) {
    linux(`a process ${name} is not ours and lives on`, async () => {
      using p = await makeProject({ scenario: { 'implement-1': waits } })
      await killedWhere(p)
      const innocent = Bun.spawn(['sleep', '300'], { detached: true })
      const file = join(p.loopDir, 'run.json')
      const run = JSON.parse(readFileSync(file, 'utf8'))
      const start = readFileSync(`/proc/${innocent.pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19]
      run.session = { pid: innocent.pid, group: innocent.pid, start }
      change(run)
      writeFileSync(file, JSON.stringify(run))
      expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked' })
      expect(innocent.exitCode).toBeNull()
      expect(innocent.signalCode).toBeNull()
      innocent.kill()
      expect(livingSessions(p)).toEqual([])
    })
  }
})

describe('a signal to a tick', () => {
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 143],
  ] as const) {
    linux(
      `${signal}: ends a session that is deaf to it within the grace and 2 s, and cleans up`,
      async () => {
        using p = await makeProject({ scenario: { 'implement-1': `echo half >> src/work.txt; ${deaf}` } })
        const before = lookBefore(p)
        const tick = start(p, 'tick', p.loop)
        await reached(p)
        const sent = performance.now()
        tick.kill(signal)
        await tick.exited
        expect(performance.now() - sent).toBeLessThan(5000)
        expect(tick.exitCode).toBe(code)
        expect(livingSessions(p)).toEqual([])
        expect(existsSync(join(p.loopDir, 'run.json'))).toBe(false)
        expect(p.log().at(-1)).toMatchObject({ type: 'interrupted', state: { iteration_count: 0 } })
        expect(p.git('show', `${p.log().at(-1).data.kept}:src/work.txt`)).toContain('half')
        await must(p.tick())
        expect(checkWhole(p, before)).toEqual([])
      },
    )
  }

  linux('twice: it ends at once, and the next tick cleans up', async () => {
    using p = await makeProject({ scenario: { 'implement-1': `echo half >> src/work.txt; ${deaf}` } })
    const before = lookBefore(p)
    const tick = start(p, 'tick', p.loop)
    await reached(p)
    tick.kill('SIGTERM')
    await Bun.sleep(300)
    tick.kill('SIGTERM')
    await tick.exited
    expect(tick.exitCode).toBe(143)
    await must(p.tick())
    expect(checkWhole(p, before)).toEqual([])
  })

  linux('SIGTERM: while a verifier runs a program, ends that too, and is no tick that died', async () => {
    using p = await makeProject()
    const begun = join(p.root, '..', 'begun')
    const commands = [['sh', '-c', `touch '${begun}'; exec sleep 60`]]
    p.configure({
      verifiers: [{ use: 'command', options: { commands } }],
      blast_radius: { sandbox: 'off' },
    })
    const tick = start(p, 'tick', p.loop)
    await until(() => existsSync(begun), 'the verifier runs its program')
    tick.kill('SIGTERM')
    await tick.exited
    expect(tick.exitCode).toBe(143)
    expect(livingSessions(p)).toEqual([])
    expect(p.log().at(-1)).toMatchObject({ type: 'interrupted' })
    expect(p.state()).toMatchObject({ status: 'running', incomplete_ticks: 0, iteration_count: 0 })
  })
})

describe('a session that', () => {
  linux('is killed fails, and the tick does not', async () => {
    using p = await makeProject({ scenario: { 'implement-1': 'kill -9 $$' } })
    const call = await p.tick('--json')
    expect(call.code).toBe(5)
    expect(call.json()).toMatchObject({ outcome: 'session_failed', why: 'it was killed by SIGKILL' })
    expect(p.state()).toMatchObject({ consecutive_errors: 1, incomplete_ticks: 0, iteration_count: 0 })
  })

  linux('leaves a process in a session of its own: it ends before its changes are looked at', async () => {
    const left = 'setsid sh -c "while :; do date >> src/late.txt; sleep 0.05; done" & sleep 0.3'
    using p = await makeProject({ scenario: { 'implement-1': `${left}; ${goodAgent.implement}` } })
    const before = lookBefore(p)
    await must(p.tick())
    expect(livingSessions(p)).toEqual([])
    const committed = p.git('show', 'automaton/nightly:src/late.txt')
    expect(readFileSync(join(p.worktree, 'src/late.txt'), 'utf8').trim()).toBe(committed)
    expect(checkWhole(p, before)).toEqual([])
  })

  linux('leaves a process with its pipe open: the tick does not wait for it', async () => {
    using p = await makeProject({ scenario: { 'implement-1': `sleep 300 & ${goodAgent.implement}` } })
    await must(p.tick())
    const [record] = p.log().filter(({ type }) => type === 'tick')
    expect(record.data.spent.seconds).toBeLessThan(8)
    expect(livingSessions(p)).toEqual([])
  })

  linux('is deaf to SIGTERM ends at its time limit', async () => {
    using p = await makeProject({
      loop: { harness: { timeout_seconds: 1 } },
      scenario: { 'implement-1': deaf },
    })
    const call = await p.tick('--json')
    expect(call.code).toBe(5)
    expect(call.json()).toMatchObject({ why: 'it ran past harness.timeout_seconds' })
    expect(livingSessions(p)).toEqual([])
  })
})

// biome-ignore lint/suspicious/noExplicitAny: run.json as it is
type Json = any
