import type { Role } from '../api/harness.ts'
import { findPrompt, phaseGuide } from '../assets/prompts.ts'
import { type PromptValues, render } from '../assets/render.ts'
import { effectiveTier } from '../machine/budget.ts'
import { readBounded } from '../store/atomic.ts'
import { taskPlaces } from '../store/layout.ts'
import { readTask } from '../store/tasks.ts'
import { randomHex } from '../system/digest.ts'
import type { Scene, Site, Work } from './scene.ts'

const briefLimit = 1 << 20
/** What of a context window the prompt may take; the rest is for what the session reads, does and says. */
const promptShare = 0.5

/** What a prompt is made from. */
export interface PromptSpec {
  scene: Scene
  site: Site
  work: Work
  role: Role
  values: { artifact_content?: string; diff?: string; verdict?: string }
  hint: string
}

/** Renders a role's prompt within the role's context budget. */
export function renderPrompt(
  spec: PromptSpec,
  session: { output: string; model: string | null; remote: boolean },
): { text: string; values: Record<string, string>; warnings: string[] } {
  const { scene, work, role } = spec
  const { config, deps, places, machine } = scene
  const ref = config.roles[role].prompt
  const found = findPrompt({ ref, loopDir: places.dir, home: deps.home })
  const window = effectiveTier({
    tier: config.roles[role].tier,
    detectedBytes: null,
    override: machine.contextOverride[role] ?? machine.contextOverride.all,
    backend: machine.backend,
    remoteHarness: config.harness.command === null && session.remote,
  })
  const values: PromptValues = {
    task_brief: briefOf(spec),
    acceptance_criteria: criteriaOf(spec),
    next_hint: spec.hint,
    current_task: work.task,
    current_phase: work.phase,
    phase_guide: phaseGuide(work.phase, deps.home),
    file_scope: config.blast_radius.file_scope.map((path) => `\`${path}\``).join(', ') || 'the whole folder',
    verdict: role === 'orchestrate' ? (spec.values.verdict ?? '') : '',
    artifact_content: role === 'verify' ? (spec.values.artifact_content ?? '') : '',
    diff: role === 'verify' ? (spec.values.diff ?? '') : '',
    output: session.output,
    cwd: spec.site.cwd,
    ...(session.model === null ? {} : { model: session.model }),
  }
  const rendered = render({
    template: found.text,
    values,
    budgetTokens: Math.floor(window * promptShare),
    marker: randomHex(6),
  })
  const warnings = rendered.cut.map(
    (what) => `${role} prompt: ${what} was cut to fit a window of ${window} tokens`,
  )
  return { text: rendered.text, values: { ...values }, warnings }
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
