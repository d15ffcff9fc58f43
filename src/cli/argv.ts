import { errors } from '../errors.ts'
import { nearest } from '../machine/nearest.ts'
import { globalOptions, type OptionSpec, type Verb } from './verb.ts'

/** A command line, taken apart by the table of verbs. Values are still as they were typed. */
export interface CommandLine {
  verb: Verb | null
  args: string[]
  /** Value-less options have an empty list. */
  options: Map<string, string[]>
}

/**
 * Takes a command line apart. It is done here and not by the parser library, because that reads `--brief -` as a
 * switch and `--halt 007` as the number 7.
 */
export function takeApart(argv: readonly string[], verbs: readonly Verb[]): CommandLine {
  const { front, back } = halves(argv)
  const verb = verbIn(argv, verbs)
  const line: CommandLine = { verb, args: [], options: new Map() }
  for (let i = 0; i < front.length; i++) {
    const word = front[i] ?? ''
    if (!isOption(word)) line.args.push(word)
    else if (takeOption(line, word, front[i + 1], verbs)) i++
  }
  if (verb) line.args.shift()
  line.args.push(...back)
  return line
}

/** The verb that a command line names, or null when it names none. Throws for one that does not exist. */
export function verbIn(argv: readonly string[], verbs: readonly Verb[]): Verb | null {
  const name = findVerb(halves(argv).front, verbs)
  return name === null ? null : verbNamed(name, verbs)
}

/** True when the words ask for a JSON answer, whatever else is wrong with them. */
export function wantsJson(argv: readonly string[]): boolean {
  return halves(argv).front.includes('--json')
}

/** The options that a verb takes, its own first. */
export function optionsOf(verb: Verb | null): readonly OptionSpec[] {
  return verb ? [...(verb.options ?? []), ...globalOptions] : globalOptions
}

const shorts: Record<string, string> = { '-h': 'help', '-v': 'version' }

/** The words before and after `--`. */
function halves(argv: readonly string[]): { front: readonly string[]; back: readonly string[] } {
  const split = argv.indexOf('--')
  return split < 0 ? { front: argv, back: [] } : { front: argv.slice(0, split), back: argv.slice(split + 1) }
}

function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-'
}

/** The first word that is neither an option nor an option's value. */
function findVerb(words: readonly string[], verbs: readonly Verb[]): string | null {
  const takesValue = (word: string) =>
    [...globalOptions, ...verbs.flatMap((verb) => verb.options ?? [])].some(
      (option) => option.value && word === `--${option.name}`,
    )
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (!isOption(word)) return word
    if (!word.includes('=') && takesValue(word)) i++
  }
  return null
}

function verbNamed(name: string, verbs: readonly Verb[]): Verb {
  const found = verbs.find((verb) => verb.name === name || verb.alias === name)
  if (found) return found
  const near = nearest(
    name,
    verbs
      .filter((verb) => verb.group)
      .flatMap((verb) => (verb.alias ? [verb.name, verb.alias] : [verb.name])),
  )
  throw errors.usage(
    `unknown command (${name})`,
    near ? `did you mean "${near}"?` : 'there is no such command',
    near ? `automaton ${near}` : 'automaton --help',
  )
}

/** Reads one option into the line; true when it used up the next word. */
function takeOption(
  line: CommandLine,
  word: string,
  next: string | undefined,
  verbs: readonly Verb[],
): boolean {
  const equals = word.indexOf('=')
  const typed = equals < 0 ? word : word.slice(0, equals)
  const name = shorts[typed] ?? (typed.startsWith('--') ? typed.slice(2) : '')
  const option = optionsOf(line.verb).find((candidate) => candidate.name === name)
  if (!option) throw unknownOption(line.verb, typed, verbs)
  const see = helpOf(line.verb)
  const given = line.options.get(name)
  if (!option.value) {
    if (equals >= 0) throw errors.usage(`bad option (${typed})`, 'it takes no value', see)
    line.options.set(name, [])
    return false
  }
  if (given && !option.list) throw errors.usage(`bad option (${typed})`, 'it was given twice', see)
  const inline = equals >= 0 ? word.slice(equals + 1) : undefined
  const value = inline ?? next
  if (value === undefined || (inline === undefined && value.startsWith('--'))) {
    throw errors.usage(`missing value (${typed})`, `it needs ${option.value}`, see)
  }
  line.options.set(name, [...(given ?? []), value])
  return inline === undefined
}

function unknownOption(verb: Verb | null, typed: string, verbs: readonly Verb[]) {
  const bare = typed.replace(/^-+/, '')
  const command = verbs.find((candidate) => candidate.group && candidate.name === bare)
  const what = `unknown option (${typed})`
  if (!verb && command) {
    return errors.usage(what, `did you mean the command "${bare}"?`, `automaton ${bare}`)
  }
  const near = nearest(
    bare,
    optionsOf(verb).map((option) => option.name),
  )
  const why = near ? `did you mean --${near}?` : 'there is no such option'
  return errors.usage(verb ? `${what.slice(0, -1)} of ${verb.name})` : what, why, helpOf(verb))
}

function helpOf(verb: Verb | null): string {
  return verb ? `automaton ${verb.name} --help` : 'automaton --help'
}
