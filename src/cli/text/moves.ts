import type { ApproveTaskReport } from '../../commands/approve-task.ts'
import type { PersonClaimReport } from '../../commands/claim.ts'
import type { IntentReport } from '../../commands/intent.ts'
import type { PauseReport } from '../../commands/pause-loop.ts'
import type { RepairReport } from '../../commands/repair.ts'
import type { ResumeReport } from '../../commands/resume-loop.ts'
import type { SyncReport } from '../../commands/sync.ts'
import type { TransitionReport } from '../../commands/transition.ts'
import { wrap } from '../layout.ts'
import type { Page } from '../page.ts'
import { safe } from '../safe.ts'
import { nextLines } from './next.ts'

/** What pausing did. */
export function pauseText(raw: PauseReport, page: Page): string {
  const { loop, requested, holder } = safe(raw)
  if (!requested) return told(`${loop} is paused`, [`automaton resume-loop ${loop}`], page)
  const text = `a tick of ${loop} is running (${holder}); the loop is paused as soon as it settles`
  return told(text, [`automaton status ${loop}`], page)
}

/** What resuming did. */
export function resumeText(raw: ResumeReport, page: Page): string {
  const { loop, withdrawn } = safe(raw)
  const text = withdrawn ? `the pause of ${loop} is taken back; it goes on` : `${loop} is running again`
  return told(text, [`automaton tick ${loop}`], page)
}

/** Where the branch starts from now. */
export function syncText(raw: SyncReport, page: Page): string {
  const { loop, branch, base_branch, base, kept, kept_folder, task } = safe(raw)
  const text = `${branch} starts again from ${base_branch} (${base.slice(0, 12)})`
  const on = `automaton tick ${loop}`
  const inner = kept_folder ? `; the repositories inside it are kept in ${kept_folder}` : ''
  if (!kept) return told(`${text}${inner}`, [on], page)
  const back = task ? sendBack(task) : null
  const rest = back ? `. ${back.why}` : ''
  return told(`${text}; what it had is kept as ${kept}${inner}${rest}`, [...(back?.commands ?? []), on], page)
}

/** A task does not know that its work is gone: it keeps its phase until a person moves it. */
function sendBack({
  task,
  phase,
}: NonNullable<SyncReport['task']>): { why: string; commands: string[] } | null {
  const stays = `${task} stays in ${phase}. If its work was dropped`
  switch (phase) {
    case 'design':
    case 'decompose':
    case 'implement':
      return null
    case 'complete':
      return { why: `${stays} and you still want it, make a new task`, commands: [] }
    case 'human_intervention':
      return { why: `${stays}, send it back`, commands: [`automaton approve --task ${task} --to implement`] }
    case 'code_review':
    case 'bug_hunt':
    case 'adversarial_review':
    case 'referee': {
      const out = `automaton transition ${task} human_intervention --reason "its work was dropped"`
      return {
        why: `${stays}, send it back`,
        commands: [out, `automaton approve --task ${task} --to implement`],
      }
    }
  }
}

/** What was rebuilt. */
export function repairText(raw: RepairReport, page: Page): string {
  const { loop, repaired, problem, halt } = safe(raw)
  if (!repaired)
    return told(`${loop} needs no repair: state and log agree`, [`automaton status ${loop}`], page)
  if (halt === null)
    return told(`${loop} was put right. What was wrong: ${problem}`, [`automaton status ${loop}`], page)
  const text = `${loop} was rebuilt and is halted, so that you look before it goes on. What was wrong: ${problem}`
  return told(text, [`automaton log ${loop}`, `automaton approve --loop ${loop} --halt ${halt}`], page)
}

/** The edge that a task took. */
export function transitionText(raw: TransitionReport | ApproveTaskReport, page: Page): string {
  const { task, from, to } = safe(raw)
  return told(`${task}: ${from} → ${to}`, [`automaton task ${task}`], page)
}

/** Who has a task now. */
export function claimText(raw: PersonClaimReport, page: Page): string {
  const { task, claimed_by, loop } = safe(raw)
  if (claimed_by === null) return releaseText(safe(raw), page)
  const held = loop ? `; loop ${loop} lets go of it at its next tick` : ''
  return told(`${task} is claimed by ${claimed_by}${held}`, [`automaton release ${task}`], page)
}

function releaseText({ task, claimed_before: before, phase, loop }: PersonClaimReport, page: Page): string {
  const had = before === null ? 'nobody had claimed it' : `${before} no longer has it`
  const say = (what: string, next: string[] = []) => told(`${task}: ${had}; ${what}`, next, page)
  if (phase === 'complete') return say('it is complete, so no loop works it')
  if (phase === 'human_intervention' || phase === 'design')
    return say('it waits for you, so no loop works it', [`automaton approve --task ${task}`])
  return say(loop ? `loop ${loop} has it` : 'it is free for the loops')
}

/** The operation that was named. */
export function intentText(raw: IntentReport, page: Page): string {
  const { intent } = safe(raw)
  const what = intent.action === 'transition' ? `transition to ${intent.to}` : intent.action
  return told(`noted: ${what}. It is applied after this session; end the session now.`, [], page)
}

function told(text: string, next: string[], page: Page): string {
  return [...wrap(text, page.width), ...nextLines(next, page)].join('\n')
}
