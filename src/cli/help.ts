import { optionsOf } from './argv.ts'
import { pad, widthOf, wrap } from './layout.ts'
import type { Page } from './page.ts'
import { globalOptions, groups, type OptionSpec, type Verb } from './verb.ts'

/** Help for one verb, or the overview. */
export function helpText(o: {
  verbs: readonly Verb[]
  verb: Verb | null
  version: string
  page: Page
}): string {
  return o.verb ? verbHelp(o.verb, o.page) : overview(o.verbs, o.version, o.page)
}

/** The same for programs: one verb, or all that are listed, and the options of each besides those of all. */
export function helpReport(o: { verbs: readonly Verb[]; verb: Verb | null; version: string }) {
  const told = o.verb ? [o.verb] : o.verbs.filter((verb) => verb.group)
  return {
    version: o.version,
    commands: told.map(({ name, alias, args, group, help, options }) => ({
      name,
      alias: alias ?? null,
      args: args?.split(' ') ?? [],
      group: group ?? null,
      help,
      options: (options ?? []).map(optionReport),
    })),
    options: globalOptions.map(optionReport),
  }
}

function optionReport({ name, value, list, help }: OptionSpec) {
  return { name: `--${name}`, value: value ?? null, repeats: list === true, help }
}

const exitHelp =
  'Exit codes: 0 done, 2 usage, 3 not now, 4 this tick halted the loop, 5 environment, 6 refused inside a tick.'

function overview(verbs: readonly Verb[], version: string, { width, colors }: Page): string {
  const lines = [
    ...wrap(`automaton ${version}: approved work, done by coding agents, with brakes that hold.`, width),
    '',
    'Usage: automaton <command> [options]',
  ]
  const listed = verbs.filter((verb) => verb.group)
  const left = Math.max(...listed.map((verb) => widthOf(signature(verb)))) + 2
  for (const group of groups) {
    const members = listed.filter((verb) => verb.group === group)
    if (members.length === 0) continue
    lines.push('', colors.bold(group))
    for (const verb of members) lines.push(...entry(signature(verb), verb.help, left, width))
  }
  lines.push('', colors.bold('Everywhere'), ...optionLines(globalOptions, width), '')
  lines.push(...wrap(`automaton <command> --help tells more. ${exitHelp}`, width))
  return lines.join('\n')
}

function verbHelp(verb: Verb, { width, colors }: Page): string {
  const usage = `automaton ${verb.name}${verb.args ? ` ${verb.args}` : ''}`
  const own = verb.options ?? []
  const lines = [
    `Usage: ${usage}${own.length > 0 ? ' [options]' : ''}`,
    '',
    ...wrap(`${capital(verb.help)}.`, width),
  ]
  if (verb.alias) lines.push('', `Also called: ${verb.alias}`)
  if (own.length > 0) lines.push('', colors.bold('Options'), ...optionLines(own, width))
  const rest = optionsOf(verb).filter((option) => !own.includes(option))
  lines.push('', colors.bold('Everywhere'), ...optionLines(rest, width))
  return lines.join('\n')
}

function optionLines(options: readonly OptionSpec[], width: number): string[] {
  const names = options.map(optionName)
  const left = Math.max(...names.map(widthOf)) + 2
  return options.flatMap((option, i) => {
    const more = option.list ? `${option.help} (may be repeated)` : option.help
    return entry(names[i] ?? '', more, left, width)
  })
}

function entry(left: string, right: string, leftWidth: number, width: number): string[] {
  const lines = wrap(right, width - leftWidth - 2)
  return lines.map((line, i) => `  ${pad(i === 0 ? left : '', leftWidth)}${line}`)
}

function optionName(option: OptionSpec): string {
  return option.value ? `--${option.name} ${option.value}` : `--${option.name}`
}

function signature(verb: Verb): string {
  return verb.args ? `${verb.name} ${verb.args}` : verb.name
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
