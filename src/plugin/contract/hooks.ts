import type { HookEvents } from '../../api/hooks.ts'
import type { Check } from './check.ts'

/** What happens in the life of a loop, one event of each kind. */
export const sampleEvents: HookEvents = {
  'tick:start': { loop: 'nightly', tick: 1 },
  'work:found': { loop: 'nightly', tick: 1, task: 'fix-login', phase: 'implement' },
  'session:start': { loop: 'nightly', tick: 1, role: 'implement', task: 'fix-login' },
  'session:end': { loop: 'nightly', tick: 1, role: 'implement', task: 'fix-login', ok: true, seconds: 2 },
  verdict: {
    loop: 'nightly',
    tick: 1,
    task: 'fix-login',
    verdict: { pass: true, score: 1, reasons: [], next_hint: '' },
  },
  halt: {
    loop: 'nightly',
    project: '/project',
    reason: 'iterations_exhausted',
    detail: '20 of 20',
    haltId: 'h1',
    fix: 'automaton approve --loop nightly --halt h1',
  },
  approve: { loop: 'nightly', haltId: 'h1', by: 'pat' },
  complete: {
    loop: 'nightly',
    project: '/project',
    task: 'fix-login',
    fix: 'git -C /project merge automaton/nightly',
  },
  'tick:end': { loop: 'nightly', tick: 1, outcome: 'worked' },
}

/** What every listener must do. The hooks really run. */
export function hookChecks(o: {
  /** Tells one event to the plugin, and returns what was logged of a failure. */
  tell<E extends keyof HookEvents>(event: E, payload: HookEvents[E]): Promise<string[]>
}): Check[] {
  return Object.keys(sampleEvents).map((name) => ({
    name: `hears ${name} without failing`,
    async run() {
      const event = name as keyof HookEvents
      const [failure] = await o.tell(event, sampleEvents[event])
      if (failure !== undefined) throw new Error(failure)
    },
  }))
}
