import type { Role } from '../api/harness.ts'
import { findPrompt, phaseGuide } from '../assets/prompts.ts'
import { type PromptValues, type Rendered, render } from '../assets/render.ts'
import { promptShare, type RoleContext } from '../machine/budget.ts'
import { readBounded } from '../store/atomic.ts'
import { taskPlaces } from '../store/layout.ts'
import { readTask } from '../store/tasks.ts'
import { randomHex } from '../system/digest.ts'
import type { Contexts } from './context.ts'
import { fitPrompt } from './fit-prompt.ts'
import type { Scene, Site, Work } from './scene.ts'

const briefLimit = 16 << 20

/** What a prompt is made from. */
export interface PromptSpec {
  scene: Scene
  site: Site
  work: Work
  role: Role
  values: { artifact_content?: string; diff?: string; verdict?: string }
  hint: string
}

/** What is known of the session besides. */
export interface PromptSession {
  output: string
  model: string | null
  contexts: Contexts['roles']
}

/** Renders a role's prompt within its part of the role's context window. Each cut is a warning. */
export async function renderPrompt(
  spec: PromptSpec,
  session: PromptSession,
): Promise<{ text: string; values: PromptValues; warnings: string[] }> {
  const { scene, role } = spec
  const { config, deps, places } = scene
  const found = findPrompt({ ref: config.roles[role].prompt, loopDir: places.dir, home: deps.home })
  const values = valuesOf(spec, session)
  const marker = randomHex(6)
  const window = windowOf(session, role)
  const rendered = await fitPrompt({
    limit: Math.floor(window.effective * promptShare),
    draw: (budgetTokens) => render({ template: found.text, values, budgetTokens, marker }),
    count: (text) => deps.host.countTokens({ text, model: session.model }),
  })
  return { ...rendered, warnings: cutWarnings(role, window, rendered) }
}

function valuesOf(spec: PromptSpec, { output, model, contexts }: PromptSession): PromptValues {
  const { scene, work, role } = spec
  const budget = String(Math.min(...contexts.map(({ effective }) => effective)))
  const guide = phaseGuide(work.phase, scene.deps.home)
  return {
    task_brief: briefOf(spec),
    acceptance_criteria: criteriaOf(spec),
    next_hint: spec.hint,
    current_task: work.task,
    current_phase: work.phase,
    phase_guide: guide.replaceAll('{context_budget}', budget),
    file_scope:
      scene.config.blast_radius.file_scope.map((path) => `\`${path}\``).join(', ') || 'the whole folder',
    context_budget: budget,
    verdict: role === 'orchestrate' ? (spec.values.verdict ?? '') : '',
    artifact_content: role === 'verify' ? (spec.values.artifact_content ?? '') : '',
    diff: role === 'verify' ? (spec.values.diff ?? '') : '',
    output,
    cwd: spec.site.cwd,
    ...(model === null ? {} : { model }),
  }
}

function windowOf({ contexts }: PromptSession, role: Role): RoleContext {
  const window = contexts.find((context) => context.role === role)
  if (!window) throw new Error(`no context window was worked out for ${role}`)
  return window
}

function cutWarnings(role: Role, { effective, via }: RoleContext, { cut }: Rendered): string[] {
  const window = `a window of ${effective} tokens${via === null ? '' : ` (${via})`}`
  return cut.map(
    ({ part, from, to }) =>
      `${role} prompt: ${part} was cut from ${from} to ${to} characters to fit ${window}`,
  )
}

function briefOf({ scene, work }: PromptSpec): string {
  return readBounded(taskPlaces(scene.deps.project, work.task).brief, briefLimit) ?? ''
}

/** The loop's goal and the task's own criteria, each as one line of a list. */
function criteriaOf({ scene, work }: PromptSpec): string {
  const task = readTask(scene.deps.project, work.task)
  const own = task && 'phase' in task ? task.acceptance_criteria : []
  return [...scene.config.acceptance_criteria, ...own].map((line) => `- ${line}`).join('\n')
}
