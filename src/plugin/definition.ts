import * as v from 'valibot'
import { type Plugin, pluginRoles } from '../api/plugin.ts'
import { errors } from '../errors.ts'
import { describe } from './call.ts'

const definition = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'it is 1 to 63 of a-z, 0-9 and -')),
  api: v.literal(1, 'this automaton knows api 1'),
  role: v.exactOptional(v.picklist([...pluginRoles, 'hooks'])),
  options: v.exactOptional(v.custom<unknown>(isSchema, 'it is no schema of valibot')),
  setup: v.function('a function is expected'),
})

/** The plugin that a file exports. Throws `plugin_failed` with the stage `shape`. */
export function pluginOf(module: unknown, at: { plugin: string; fix: string }): Plugin {
  const exported: unknown =
    typeof module === 'object' && module !== null ? Reflect.get(module, 'default') : null
  const fail = (why: string) => errors.pluginFailed(at.plugin, 'shape', why, undefined, at.fix)
  if (exported === undefined || exported === null) {
    throw fail('it has no default export: export default definePlugin({ name, api: 1, setup })')
  }
  const parsed = v.safeParse(definition, exported)
  if (!parsed.success) throw fail(describe('default export', parsed.issues[0]))
  return exported as Plugin
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, 'kind') === 'schema'
}
