import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { decideClaim } from '../machine/claim.ts'
import { claimTask } from '../machine/loop.ts'
import { loopPhases } from '../machine/phases.ts'
import { commit } from '../store/journal.ts'
import { withTasks } from '../store/tasks.ts'
import { existingLoop, withLoop } from './held.ts'
import { existingTask, otherClaims } from './known-task.ts'

/** Who has the task now. */
export type ClaimReport =
  | { ok: true; task: string; owner: string }
  | { ok: false; task: string; owner: string; since: string | null }

/** Claims a task for a loop, so that no other takes it (contract, section 7). Owning it already is fine. */
export async function claimLoopTask(app: App, o: { loop: string; task: string }): Promise<ClaimReport> {
  const project = app.project()
  const places = existingLoop(project, o.loop)
  existingTask(project, o.task)
  return withLoop(app, places, (state) => {
    if (state.status !== 'running') {
      throw errors.wrongStatus(o.loop, 'claim a task', state.status, `automaton status ${o.loop}`)
    }
    return withTasks(project, (): ClaimReport => {
      const task = existingTask(project, o.task)
      if (!loopPhases.includes(task.phase)) {
        throw errors.taskPhase(o.task, 'claim', task.phase, `automaton task ${o.task}`)
      }
      const decision = decideClaim({
        loop: o.loop,
        task: o.task,
        others: otherClaims(project, o.loop),
        claimedBy: task.claimed_by,
        claimedAt: state.current_task === o.task ? state.claimed_at : null,
      })
      if (!decision.ok) return { ok: false, task: o.task, owner: decision.owner, since: decision.since }
      if (state.current_task !== o.task) {
        const at = app.clock.iso()
        const next = claimTask(state, { task: o.task, phase: task.phase, at })
        const data = { task: o.task, phase: task.phase }
        commit(places, state, next, { type: 'claim', run: null, by: 'human', at, data })
      }
      return { ok: true, task: o.task, owner: o.loop }
    })
  })
}
