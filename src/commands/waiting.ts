import type { Phase } from '../api/work.ts'
import type { App } from '../app.ts'
import type { OtherClaim } from '../machine/claim.ts'
import type { TaskState } from '../machine/task.ts'
import { allowedPhases, readSetting } from '../runner/setting.ts'
import { loopPlaces } from '../store/layout.ts'
import { listTasks } from '../store/tasks.ts'
import { otherClaims } from './known-task.ts'

/** An open task that a loop leaves alone. */
export interface Waiting {
  task: string
  why: string
  /** What a person types to change that. */
  fix: string
}

/** The open tasks that a loop which found no work could not take, those that wait for a person first. */
export function waitingTasks(app: App, loop: string): Waiting[] {
  const project = app.project()
  const { config, kept } = readSetting(loopPlaces(project, loop), project, app.home)
  if (!config) return []
  const { tracked } = listTasks(project)
  const { kind, task: only } = config.work_source
  if (kind === 'single' && only !== null && !tracked.some(({ task }) => task === only)) {
    const fix = `automaton create-task ${only} --brief FILE`
    return [{ task: only, why: 'there is no such task', fix }]
  }
  const others = otherClaims(project, loop)
  const allowed = allowedPhases(config, kept)
  return tracked
    .filter(({ task, phase }) => phase !== 'complete' && (kind !== 'single' || task === only))
    .flatMap((task) => reasonOf({ task, others, allowed }) ?? [])
    .sort((a, b) => Number(isApproval(b)) - Number(isApproval(a)))
}

function reasonOf(o: {
  task: TaskState
  others: readonly OtherClaim[]
  allowed: readonly Phase[]
}): Waiting | null {
  const { task, phase, claimed_by, blocked_reason } = o.task
  const approve = `automaton approve --task ${task}`
  if (phase === 'human_intervention')
    return { task, why: `waits for you: ${blocked_reason ?? 'no reason was given'}`, fix: approve }
  if (phase === 'design') return { task, why: 'its design waits for you', fix: approve }
  if (claimed_by !== null) return { task, why: `claimed by ${claimed_by}`, fix: `automaton release ${task}` }
  const other = o.others.find((claim) => claim.current_task === task && claim.status !== 'complete')
  if (other) return { task, why: `loop ${other.loop} has it`, fix: `automaton status ${other.loop}` }
  if (o.allowed.includes(phase)) return null
  return { task, why: `it is in ${phase}, which this loop does not work`, fix: `automaton task ${task}` }
}

function isApproval({ fix }: Waiting): boolean {
  return fix.startsWith('automaton approve')
}
