import type { ReadVerdict } from '../../api/verdict.ts'
import type { Phase } from '../../api/work.ts'
import { findIntent, type Intent, parseIntent } from '../../machine/intent.ts'
import { countModels } from '../../machine/models.ts'
import { verdictWays } from '../../machine/phase-table.ts'
import { checkTransition, edgeByVerdict, readVerdictLine } from '../../machine/phases.ts'
import type { TaskState } from '../../machine/task.ts'
import { caughtAt } from '../halt.ts'
import type { Journalist } from '../journalist.ts'
import type { Scene, Site, Work } from '../scene.ts'
import { SessionFailed } from '../session-failed.ts'
import { type WatchedOutcome, watchedSession } from '../watch.ts'
import type { Made } from './implement.ts'

/** The one operation that this tick will apply. */
export interface Decided {
  intent: Intent
  /** The orchestrate session, if one was spent. */
  session: WatchedOutcome | null
}

/** What the step looks at. */
export interface OrchestrateInput {
  scene: Scene
  site: Site
  work: Work
  task: TaskState
  made: Made
  graded: ReadVerdict
  journalist: Journalist
}

/** Decides on at most one state operation, by rule or by a session, and checks that the task may take it. */
export async function orchestrate(input: OrchestrateInput): Promise<Decided> {
  const { scene } = input
  if (scene.config.roles.orchestrate.mode === 'rules') return { intent: byRules(input), session: null }
  scene.deps.progress(`tick ${scene.tick}: orchestrate`)
  const session = await watchedSession({
    scene,
    site: input.site,
    work: input.work,
    role: 'orchestrate',
    values: { verdict: verdictFor(input) },
    hint: '',
    journalist: input.journalist,
  })
  if (session.failure) throw new SessionFailed('orchestrate', session.failure, caughtAt(scene, session))
  return { intent: permitted(input, intentOf(session, scene)), session }
}

/** The verdict, and where the artifact's own verdict line points, which the session has no other way to see. */
function verdictFor({ graded, work, made }: OrchestrateInput): string {
  const artifact_verdict = readVerdictLine(work.phase, made.artifact)
  return JSON.stringify({ ...graded.verdict, artifact_verdict }, null, 2)
}

/** A passed artifact goes where its verdict line says, back and to a person included; anything else holds. */
function byRules(input: OrchestrateInput): Intent {
  const { graded, work, made, scene } = input
  if (!graded.verdict.pass) return { action: 'hold', reason: 'the verdict failed' }
  const to = edgeByVerdict({ phase: work.phase, artifact: made.artifact, kept: scene.kept })
  if (!to) return { action: 'hold', reason: whyNowhere(work.phase, made.artifact) }
  if (to === 'human_intervention') return { action: 'escalate', reason: 'the artifact says BLOCKED' }
  return permitted(input, { action: 'transition', to, reason: 'the verdict passed' })
}

/** The next session reads it too, and has to know what to write. */
function whyNowhere(phase: Phase, artifact: string): string {
  const word = readVerdictLine(phase, artifact)
  if (word !== null) return `the project keeps no phase that ${word} leads to`
  const lines = Object.keys(verdictWays(phase) ?? {}).map((known) => `"Verdict: ${known}"`)
  return `the artifact has no line of its own that says ${lines.join(' or ')}`
}

function intentOf(session: WatchedOutcome, scene: Scene): Intent {
  if (session.intent !== null) {
    const intent = parseIntent(session.intent)
    if (!('unreadable' in intent)) return intent
    scene.warnings.push(`the orchestrate session's operation was not readable: ${intent.unreadable}`)
  }
  return findIntent(session.report.finalMessage ?? '') ?? { action: 'hold', reason: 'no operation was named' }
}

/** An edge that the phase machine refuses becomes a hold; a failed artifact is no reason to go anywhere. */
function permitted(input: OrchestrateInput, intent: Intent): Intent {
  const { scene, made, graded, task } = input
  if (intent.action !== 'transition') return intent
  const hold = (why: string): Intent => {
    scene.warnings.push(`transition to ${intent.to} refused: ${why}`)
    return { action: 'hold', reason: why }
  }
  if (!graded.verdict.pass) return hold('the verdict failed')
  const checked = checkTransition({
    task,
    to: intent.to,
    actor: `loop:${scene.places.name}`,
    artifact: made.artifact,
    kept: scene.kept,
    reviewer: {
      session: made.session.id,
      model: made.session.model,
      modelCount: scene.config.roles.allow_same_model ? 0 : countModels(scene.models),
    },
    reason: intent.reason,
  })
  return checked.ok ? intent : hold(`${checked.rule}: ${checked.why}`)
}
