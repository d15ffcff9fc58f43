import { errors } from '../errors.ts'
import type { Models } from '../machine/config.ts'
import { parseConfig } from './issues.ts'
import { type LoadedLoop, loadLoopConfig } from './loop.ts'

/** What `create-loop` was asked for; what is absent stays as the template has it. */
export interface TemplateRequest {
  /** Where the template came from, for errors. */
  file: string
  text: string
  /** The name of the new loop. */
  name: string
  /** Work this one task: kind `single`, unless the template names a source that reads `task` itself. */
  task?: string
  harness?: string
  intervalSeconds?: number
  fileScope?: readonly string[]
  baseBranch?: string
  worktree?: boolean
  /** What a source `ci` runs where the template does not say it. */
  checks?: { prepare: string[][]; commands: string[][] }
  /** With two or more models, implement and verify are pinned to different ones (contract, section 5). */
  models?: Models | null
}

/** Sources that find work by themselves and read no `task`. */
const finders: readonly unknown[] = ['audit', 'backlog', 'ci', 'command', undefined]

/**
 * Makes the text of a new `loop.json` from a template: every key, so that people can see what there is. Throws
 * `bad_config` when the template or a wish is not valid.
 */
export function fillTemplate(request: TemplateRequest): LoadedLoop & { text: string } {
  const { file, harness, intervalSeconds, fileScope, baseBranch, worktree } = request
  const template = new Part(file, '', parseConfig(file, request.text))
  const radius = template.part('blast_radius').value
  const schedule = template.part('schedule').value
  const wished = {
    ...template.value,
    name: request.name,
    work_source: withChecks(source(template.part('work_source').value, request.task), request.checks),
    roles: pinned(template.part('roles'), request.models ?? null),
    blast_radius: {
      ...radius,
      ...(fileScope ? { file_scope: fileScope } : {}),
      ...(baseBranch === undefined ? {} : { base_branch: baseBranch }),
      ...(worktree === undefined ? {} : { worktree }),
    },
    schedule: {
      ...schedule,
      ...(intervalSeconds === undefined ? {} : { interval_seconds: intervalSeconds }),
    },
    harness: {
      ...template.part('harness').value,
      ...(harness === undefined ? {} : { use: harness, command: null }),
    },
  }
  const loaded = loadLoopConfig({ file, text: JSON.stringify(wished) })
  return { ...loaded, text: `${JSON.stringify(loaded.config, null, 2)}\n` }
}

function source(template: Record<string, unknown>, task: string | undefined): Record<string, unknown> {
  if (task === undefined) return template
  return finders.includes(template.kind)
    ? { ...template, kind: 'single', area: null, task, options: {} }
    : { ...template, task }
}

function withChecks(
  source: Record<string, unknown>,
  checks: TemplateRequest['checks'],
): Record<string, unknown> {
  const options = isObject(source.options) ? source.options : {}
  if (source.kind !== 'ci' || !checks || 'commands' in options) return source
  return {
    ...source,
    options: { ...(checks.prepare.length > 0 ? checks : { commands: checks.commands }), ...options },
  }
}

/**
 * Without this a fresh loop would halt at once: both roles would take the default model. What the template names stays;
 * the other role gives way.
 */
function pinned(roles: Part, models: Models | null): Record<string, unknown> {
  const ids = [...new Set(models?.models)]
  const implement = roles.part('implement').value
  const verify = roles.part('verify').value
  if (!models || ids.length < 2 || (implement.model && verify.model)) return roles.value
  const other = (taken: unknown, wanted: unknown) =>
    wanted && wanted !== taken ? wanted : ids.find((id) => id !== taken)
  const first = implement.model || other(verify.model, models.roles.implement ?? models.default ?? ids[0])
  const second = verify.model || other(first, models.roles.verify)
  return { ...roles.value, implement: { ...implement, model: first }, verify: { ...verify, model: second } }
}

/** An object inside the template; anything else in its place is an error rather than lost. */
class Part {
  readonly value: Record<string, unknown>
  constructor(
    private readonly file: string,
    private readonly path: string,
    value: unknown,
  ) {
    if (!isObject(value)) {
      throw errors.badConfig(file, path || 'the whole file', JSON.stringify(value), 'a JSON object')
    }
    this.value = value
  }

  part(key: string): Part {
    return new Part(this.file, this.path ? `${this.path}.${key}` : key, this.value[key] ?? {})
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
