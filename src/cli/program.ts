import { cac } from 'cac'
import { errors } from '../errors.ts'
import { type CommandLine, optionsOf } from './argv.ts'
import { Input } from './input.ts'
import type { Verb } from './verb.ts'

/** A verb with what it was given, ready to run. */
export interface Call {
  verb: Verb
  input: Input
}

/**
 * Matches a command line to its verb's arguments and options. Values travel through the parser behind a mark, so that
 * it takes none of them for a number or for an option.
 */
export function matchCall(verb: Verb, line: CommandLine): Call {
  checkArity(verb, line.args)
  const program = cac('automaton')
  const command = program.command(`${verb.name} ${verb.args ?? ''}`.trim(), verb.help)
  const words = [verb.name, ...line.args.map((value) => mark + value)]
  for (const option of optionsOf(verb)) {
    command.option(`--${option.name}${option.value ? ` <${option.value}>` : ''}`, option.help)
    const values = line.options.get(option.name)
    if (!values) continue
    if (option.value) words.push(...values.map((value) => `--${option.name}=${mark}${value}`))
    else words.push(`--${option.name}`)
  }
  command.action((...values: unknown[]): Call => {
    const args = values.slice(0, -1).flat().filter(isText).map(unmark)
    return { verb, input: new Input(verb.name, args, line.options) }
  })
  program.parse(['', '', ...words], { run: false })
  return program.runMatchedCommand() as Call
}

const mark = '\u0001'
const unmark = (value: string) => (value.startsWith(mark) ? value.slice(1) : value)
const isText = (value: unknown): value is string => typeof value === 'string'

function checkArity(verb: Verb, args: readonly string[]): void {
  const wanted = verb.args?.split(' ') ?? []
  const usage = `automaton ${verb.name}${verb.args ? ` ${verb.args}` : ''}`
  const missing = wanted.filter((name) => name.startsWith('<'))[args.length]
  if (missing) throw errors.usage(`missing argument (automaton ${verb.name})`, `it needs ${missing}`, usage)
  const extra = wanted.some((name) => name.includes('...')) ? undefined : args[wanted.length]
  if (extra === undefined) return
  throw errors.usage(`unexpected argument (${extra})`, `automaton ${verb.name} takes no more`, usage)
}
