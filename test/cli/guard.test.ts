import { describe, expect, test } from 'bun:test'
import { verbs } from '../../src/cli/verbs.ts'
import { scratch, withLoop } from '../commands/fixture.ts'

const allowed = [
  ...['status', 'log', 'loop-list', 'task', 'task-list', 'can-edit', 'scope-check', 'audit', 'can-continue'],
  ...['transition', 'escalate', 'hold', 'demo-agent', 'hook-check'],
]

describe('inside a tick', () => {
  test('exactly the verbs of the contract are open', () => {
    const open = verbs.filter((verb) => verb.inTick).map((verb) => verb.name)
    expect(open.sort()).toEqual([...allowed].sort())
  })

  test('every other verb is refused with 6 before it reads anything, bad options included', async () => {
    using s = scratch(null)
    const env = { AUTOMATON_IN_TICK: 'nightly' }
    const closed = verbs.filter((verb) => !verb.inTick).map((verb) => verb.name)
    const calls = await Promise.all(closed.map((name) => s.call([name, '--bogus'], { env })))
    expect(calls.map((call, i) => `${closed[i]} ${call.code}`)).toEqual(closed.map((name) => `${name} 6`))
    for (const call of calls) expect(call.stderr).toContain('refused inside a tick')
  })

  test('an empty marker is a marker too', async () => {
    using s = scratch()
    expect((await s.call(['init'], { env: { AUTOMATON_IN_TICK: '' } })).code).toBe(6)
  })

  test('help and the version are for everybody', async () => {
    using s = scratch()
    const env = { AUTOMATON_IN_TICK: 'nightly' }
    expect((await s.call(['--version'], { env })).code).toBe(0)
    expect((await s.call(['approve', '--help'], { env })).code).toBe(0)
  })
})

describe('a variable that loads code', () => {
  test('stops tick, approve and repair with 6, and nothing else', async () => {
    using s = await withLoop()
    const env = { LD_PRELOAD: '/nowhere.so' }
    for (const args of [
      ['tick', 'nightly'],
      ['approve', '--loop', 'nightly', '--halt', 'x'],
      ['repair', 'nightly'],
    ]) {
      const call = await s.call(args, { env })
      expect(call.code).toBe(6)
      expect(call.stderr).toContain('LD_PRELOAD is set')
    }
    expect((await s.call(['status'], { env })).code).toBe(0)
  })
})
