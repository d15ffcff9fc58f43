import type { AuditFacts, AuditRule, Finding } from './types.ts'

/** A claim that nobody will use: on a task that is gone or complete, or by a loop that is. */
export const orphanClaim: AuditRule = {
  name: 'orphan-claim',
  severity: 'MEDIUM',
  isWorkable: false,
  find: (facts) => [...byLoops(facts), ...onTasks(facts)],
}

function byLoops({ loops, tasks }: AuditFacts): Finding[] {
  return loops.flatMap(({ loop, path, state }) => {
    const held = state?.current_task
    if (!state || !held) return []
    const task = tasks.find((candidate) => candidate.task === held)
    const why = [
      task ? null : 'does not exist',
      task?.state?.phase === 'complete' ? 'is complete' : null,
      state.status === 'complete' ? 'is held by a loop that is complete' : null,
    ].find((reason) => reason !== null)
    if (why === undefined) return []
    return [{ place: `${loop}/${held}`, task: held, path, message: `${loop} claims ${held}, which ${why}` }]
  })
}

function onTasks({ loops, tasks }: AuditFacts): Finding[] {
  return tasks.flatMap(({ task, path, state }) => {
    const owner = state?.claimed_by
    if (!state || !owner) return []
    const isGone = owner.startsWith('loop:') && !loops.some(({ loop }) => owner === `loop:${loop}`)
    if (!isGone && state.phase !== 'complete') return []
    const why = isGone ? 'there is no such loop' : 'the task is complete'
    return [{ place: task, task, path, message: `${owner} claims ${task}, but ${why}` }]
  })
}
