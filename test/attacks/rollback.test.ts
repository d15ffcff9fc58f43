import { expect, setDefaultTimeout, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must, type TestProject } from '../helpers/project.ts'
import { git } from '../helpers/repo.ts'
import { artifact, honest, makeTarget, readPair, writePair } from './kit.ts'

setDefaultTimeout(60_000)

const failing = `echo '{"pass": false, "score": 0.3, "reasons": ["no"], "next_hint": ""}'`
const approve = (p: TestProject) => p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id])

/** A commit's time has whole seconds, and only one that is later than its loop counts. */
async function secondsAfter(created: string): Promise<void> {
  while (Date.now() < Date.parse(created) + 1000) await Bun.sleep(20)
}

for (const ticks of [0, 1]) {
  test.concurrent(`an older pair of state and log, from after ${ticks} ticks, is noticed by the branch (S8)`, async () => {
    using p = await makeTarget({
      scenario: { verify: failing },
      loop: { brakes: { score_plateau_window: 0 } },
    })
    for (let n = 0; n < ticks; n++) await must(p.tick())
    const old = readPair(p)
    await secondsAfter(p.state().created_at)
    await must(p.tick())
    await must(p.tick())
    writePair(p, old)
    const gate = (await p.call(['check-gate', p.loop])).json()
    expect(gate).toMatchObject({ ok: false, reason: 'halted:drift_detected', detail: 'tamper:rollback' })
    expect((await p.tick()).code).toBe(6)
    expect(p.state().halt.detail).toBe('tamper:rollback')
    // A person has looked at it, and the branch is accepted as it is.
    await must(approve(p))
    await must(p.tick())
  })
}

const honestCases: [string, (p: TestProject) => Promise<unknown>][] = [
  [
    'a person commits on the loop’s branch, and merges the base branch into it',
    async (p) => {
      writeFileSync(join(p.worktree, 'src/work.txt'), 'mine\n')
      git(p.worktree, 'commit', '-qam', 'mine\n\nAutomaton-Loop: nightly\nAutomaton-Run: none')
      p.git('commit', '-q', '--allow-empty', '-m', 'main goes on')
      git(p.worktree, 'merge', '-q', '--no-edit', 'main')
    },
  ],
  [
    'the state is repaired from a log that lost its end',
    async (p) => {
      const { state, log } = readPair(p)
      writePair(p, { state, log: `${log.trim().split('\n').slice(0, -2).join('\n')}\n` })
      await must(p.call(['repair', p.loop]))
      await must(approve(p))
    },
  ],
  [
    'the work was discarded',
    async (p) => {
      p.script({ implement: `touch .npmrc; ${artifact}` })
      await p.tick()
      await must(p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id, '--discard']))
    },
  ],
  [
    'a verifier failed after the commit',
    async (p) => {
      p.script({ 'verify-3': 'exit 7' })
      expect((await p.tick()).code).toBe(5)
    },
  ],
  [
    'the tick died after the commit',
    async (p) => {
      p.script({ 'verify-3': 'kill -9 $PPID; sleep 30' })
      await p.tick()
    },
  ],
  ['the branch starts again from the base branch', (p) => must(p.call(['sync', p.loop]))],
  [
    'the loop is made anew, and its branch is an older loop’s',
    async (p) => {
      git(p.root, 'worktree', 'remove', '--force', p.worktree)
      rmSync(p.loopDir, { recursive: true })
      await must(p.call(['create-loop', p.loop, '--from-template', 'backlog']))
      const agent = join(import.meta.dir, '..', 'fixtures', 'bin', 'scripted-agent')
      p.configure({ harness: { command: [agent, p.scenarioDir] }, blast_radius: { sandbox: 'off' } })
    },
  ],
]

for (const [name, act] of honestCases) {
  test.concurrent(`nothing was put back when ${name}`, async () => {
    using p = await makeTarget({
      scenario: { verify: failing },
      loop: { brakes: { score_plateau_window: 0 } },
    })
    await must(p.tick())
    await must(p.tick())
    await act(p)
    p.script({ implement: honest.implement ?? '', 'implement-3': honest.implement ?? '' })
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked' })
  })
}
