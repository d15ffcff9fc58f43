import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { handOver, noTwoUsers } from '../helpers/ordinary.ts'
import { goodAgent, makeProject } from '../helpers/project.ts'
import { until } from './loops.ts'

const missing = noTwoUsers()
const reason = missing !== null && !process.env.TEST_REQUIRE_TOOLS ? ` (skipped: ${missing})` : ''
const asTwo = (name: string, run: () => Promise<void>) =>
  reason ? test.skip(`${name}${reason}`, run) : test(name, run, 60_000)

/** What somebody else, a container for instance, leaves in the worktree `w` while a session works. */
type Plant = (w: string) => void

const unreadable: Plant = (w) => writeFileSync(join(w, 'src/secret'), 'x', { mode: 0o600 })
const shut: Plant = (w) => {
  mkdirSync(join(w, 'src/dir'), { mode: 0o700 })
  writeFileSync(join(w, 'src/dir/file'), 'x')
}
const immovable: Plant = (w) => {
  mkdirSync(join(w, 'src/dir'), { mode: 0o755 })
  writeFileSync(join(w, 'src/dir/file'), 'x')
}

/** A project of an ordinary user, in which root plants something during the first session, which then does the rest. */
async function planted(plant: Plant, rest: string) {
  const here = 'touch "$AUTOMATON_HOME.here"; until test -e "$AUTOMATON_HOME.go"; do sleep 0.02; done'
  const p = await makeProject({
    createArgs: ['--scope', 'src/'],
    scenario: { 'implement-1': `echo half >> src/work.txt; ${here}\n${rest}` },
  })
  const run = handOver(p)
  const tick = run('tick', p.loop)
  await until(() => existsSync(`${p.home}/.automaton.here`), 'the session comes to its waiting place')
  plant(p.worktree)
  writeFileSync(`${p.home}/.automaton.go`, '')
  return { p, run, first: await tick }
}

const dies = 'kill -9 $PPID; sleep 30'
const chown = (p: { worktree: string }) => Bun.spawnSync(['chown', '-R', '65534:65534', p.worktree])

describe('a file of another user in the worktree', () => {
  asTwo('that cannot be read halts the tick as drift, by its name, and says what to do', async () => {
    const { p, run, first } = await planted(unreadable, goodAgent.implement ?? '')
    using _ = p
    expect(first.code).toBe(4)
    expect(p.state().halt).toMatchObject({ reason: 'drift_detected', files: ['src/secret'] })
    expect(first.stdout.replaceAll(/\s+/g, ' ')).toContain(
      'src/secret, which belongs to user 0, cannot be read; fix: sudo chown -R 65534',
    )
    const approve = ['approve', '--loop', p.loop, '--halt', p.state().halt.id]
    const discarded = await run(...approve, '--discard')
    expect(discarded.code).toBe(5)
    expect(discarded.stderr).toContain('src/secret, which belongs to user 0, cannot be read')
    expect(existsSync(join(p.worktree, 'src/secret'))).toBe(true)
    chown(p)
    expect((await run(...approve)).code).toBe(0)
    expect((await run('tick', p.loop)).code).toBe(0)
  })

  const cases: [string, Plant, string][] = [
    ['that cannot be read', unreadable, 'src/secret, which belongs to user 0, cannot be read'],
    ['in a folder that cannot be opened', shut, 'src/dir, which belongs to user 0, cannot be read'],
    ['that cannot be removed', immovable, 'src/dir/file, which belongs to user 0, cannot be removed'],
  ]
  for (const [name, plant, why] of cases) {
    asTwo(
      `${name}, left by a tick that died: each try counts, the last one halts, and nothing is lost`,
      async () => {
        const { p, run } = await planted(plant, dies)
        using _ = p
        for (const n of [1, 2]) {
          const call = await run('tick', p.loop)
          expect(call.code).toBe(5)
          expect(call.stderr).toContain(why)
          expect(call.stderr).toContain(`sudo chown -R 65534 ${p.worktree}/src`)
          expect(p.state()).toMatchObject({ status: 'running', incomplete_ticks: n, iteration_count: 0 })
        }
        const last = await run('tick', p.loop)
        expect(last.code).toBe(4)
        expect(last.stdout.replaceAll(/\s+/g, ' ')).toContain(why)
        const { halt, seq } = p.state()
        expect(halt).toMatchObject({ reason: 'human_intervention', detail: 'repeated_crash' })
        expect((await run('tick', p.loop)).code).toBe(3)
        expect(p.state().seq).toBe(seq)
        chown(p)
        expect((await run('approve', '--loop', p.loop, '--halt', halt.id)).code).toBe(0)
        const next = await run('tick', p.loop, '--json')
        expect(JSON.parse(next.stdout)).toMatchObject({ outcome: 'worked', tick: 1 })
        const { kept } = p.log().find(({ type }) => type === 'incomplete').data
        expect(p.git('-c', `safe.directory=${p.root}`, 'show', `${kept}:src/work.txt`)).toContain('half')
      },
    )
  }
})

describe('a session that shuts', () => {
  const cases: [string, Plant][] = [
    ['a folder', (w) => chmodSync(join(w, 'src'), 0)],
    ['its worktree', (w) => chmodSync(w, 0)],
  ]
  for (const [name, plant] of cases) {
    asTwo(`${name} and dies hides nothing from the next tick`, async () => {
      const { p, run } = await planted(plant, dies)
      using _ = p
      const next = await run('tick', p.loop, '--json')
      expect(JSON.parse(next.stdout)).toMatchObject({ outcome: 'worked', tick: 1 })
      expect(next.stdout).toContain('its work is kept as refs/automaton/recovered/')
    })
  }

  asTwo('its worktree at its end has its change seen and its paper read', async () => {
    using p = await makeProject({ scenario: { 'implement-1': `${goodAgent.implement}\nchmod 000 "$PWD"` } })
    const run = handOver(p)
    expect(JSON.parse((await run('tick', p.loop, '--json')).stdout)).toMatchObject({ to: 'code_review' })
    rmSync(join(p.worktree, 'src'), { recursive: true })
  })
})
