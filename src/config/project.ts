import * as v from 'valibot'
import { phases } from '../api/work.ts'
import type { Models, ProjectConfig } from '../machine/config.ts'
import { configError, parseConfig, shape } from './issues.ts'
import * as is from './values.ts'

const perMillion = is.amount('US dollars for a million tokens, 0 or more')
const price = v.strictObject(
  { input: perMillion, output: perMillion, cached: v.exactOptional(perMillion) },
  ({ expected }) => {
    if (expected === 'never') return 'input, output, cached'
    return expected?.startsWith('"') ? `a value; ${expected} is required` : 'a JSON object'
  },
)

const projectSchema = v.looseObject(
  {
    phases: v.optional(
      v.nullable(
        v.pipe(
          v.array(v.picklist(phases, phases.join(', ')), 'a list of phases, or null for all'),
          v.minLength(1, 'a list of at least one phase, or null for all'),
        ),
      ),
      null,
    ),
    prices: v.optional(v.record(v.string(), price, 'a JSON object: prices by model id'), {}),
    notify: v.optional(
      v.array(
        v.strictObject({ use: is.name, options: v.optional(is.options, {}) }, ({ expected }) =>
          expected === 'never' ? 'use, options' : 'an object with "use" and "options"',
        ),
        'a list of notifiers',
      ),
      [],
    ),
  },
  shape(['phases', 'prices', 'notify']),
)

const model = is.text('a model id')

const modelsSchema = v.looseObject(
  {
    default: v.optional(v.nullable(model), null),
    models: v.optional(v.array(model, 'a list of model ids'), []),
    roles: v.optional(
      v.looseObject(
        {
          implement: v.exactOptional(model),
          verify: v.exactOptional(model),
          orchestrate: v.exactOptional(model),
        },
        shape(['implement', 'verify', 'orchestrate']),
      ),
      {},
    ),
  },
  shape(['default', 'models', 'roles']),
)

/** Reads `<project>/.automaton/config.json`; null when there is none. Throws `bad_config`. */
export function loadProjectConfig(text: string | null, file = '.automaton/config.json'): ProjectConfig {
  if (text === null) return { phases: null, prices: {}, notify: [] }
  const parsed = v.safeParse(projectSchema, parseConfig(file, text))
  if (!parsed.success) throw configError(file, parsed.issues[0])
  const { phases, prices, notify } = parsed.output
  return { phases, prices, notify }
}

/**
 * Reads `models.json`; null when there is none. Each id is listed once, and an id that is named as default or for a
 * role is a model too. Throws `bad_config`.
 */
export function loadModels(text: string | null, file = 'models.json'): Models | null {
  if (text === null) return null
  const parsed = v.safeParse(modelsSchema, parseConfig(file, text))
  if (!parsed.success) throw configError(file, parsed.issues[0])
  const { default: byDefault, models, roles } = parsed.output
  const { implement, verify, orchestrate } = roles
  const named = [byDefault, implement, verify, orchestrate].filter((id) => id !== null && id !== undefined)
  return {
    default: byDefault,
    models: [...new Set([...models, ...named])],
    roles: {
      ...(implement === undefined ? {} : { implement }),
      ...(verify === undefined ? {} : { verify }),
      ...(orchestrate === undefined ? {} : { orchestrate }),
    },
  }
}
