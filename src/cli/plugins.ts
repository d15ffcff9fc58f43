import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import type { Input } from './input.ts'
import type { Answer } from './verb.ts'

/** What the verb `plugins` does, by its first argument; none: list them. */
export async function runPlugins(app: App, input: Input): Promise<Answer> {
  const [action, ...args] = input.args
  if (input.on('local') && action !== 'new') {
    throw errors.usage(
      'bad option (--local)',
      'it belongs to plugins new',
      'automaton plugins new ROLE NAME --local',
    )
  }
  const text = () => import('./text/plugins.ts')
  switch (action) {
    case undefined: {
      const { plugins } = await import('../commands/plugins.ts')
      const report = await plugins(app)
      return { report, text: async (page) => (await text()).pluginsText(report, page) }
    }
    case 'new': {
      const [role, name] = take(action, args, ['ROLE', 'NAME'])
      const { newPlugin } = await import('../commands/plugins-new.ts')
      const report = await newPlugin(app, { role, name, local: input.on('local') })
      return { report, text: async (page) => (await text()).newPluginText(report, page) }
    }
    case 'trust': {
      const [file] = take(action, args, ['FILE'])
      const { trustPlugin } = await import('../commands/plugins-trust.ts')
      const report = await trustPlugin(app, file)
      return { report, text: async (page) => (await text()).trustText(report, page) }
    }
    case 'check': {
      const [file] = take(action, args, ['FILE'])
      const { checkPlugin } = await import('../commands/plugins-check.ts')
      const report = await checkPlugin(app, file)
      return {
        report,
        exit: report.ok ? 0 : 3,
        text: async (page) => (await text()).checkText(report, page),
      }
    }
    default:
      throw errors.usage(
        `unknown action (plugins ${action})`,
        'there are new, trust and check',
        'automaton plugins --help',
      )
  }
}

function take<const Names extends readonly string[]>(
  action: string,
  args: readonly string[],
  names: Names,
): { [K in keyof Names]: string } {
  const usage = `automaton plugins ${action} ${names.join(' ')}`
  const missing = names[args.length]
  if (missing !== undefined)
    throw errors.usage(`missing argument (automaton plugins ${action})`, `it needs ${missing}`, usage)
  const extra = args[names.length]
  if (extra !== undefined)
    throw errors.usage(`unexpected argument (${extra})`, `automaton plugins ${action} takes no more`, usage)
  return args as unknown as { [K in keyof Names]: string }
}
