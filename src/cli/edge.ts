import { createApp } from '../app.ts'
import { type ExitCode, errors, exitCodes } from '../errors.ts'
import { type CommandLine, takeApart, verbIn, wantsJson } from './argv.ts'
import { checkEnvironment, checkFolders, checkSession, checkTick } from './guard.ts'
import type { Input } from './input.ts'
import { write } from './output.ts'
import { matchCall } from './program.ts'
import { safeLines } from './safe.ts'
import { type Signals, watchSignals } from './signals.ts'
import { openTerminal } from './terminal.ts'
import { isTerminal } from './tty.ts'
import type { Answer, Verb } from './verb.ts'
import { verbs } from './verbs.ts'

/** Runs one command line to its end and returns its exit code. Everything it has to say is written by then. */
export async function run(argv: readonly string[]): Promise<ExitCode> {
  const signals = watchSignals()
  const json = wantsJson(argv)
  let command = 'automaton'
  try {
    const words = argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv
    const verb = verbIn(words, verbs)
    if (verb) command = `automaton ${verb.name}`
    const line = takeHelpFirst(words, verb)
    if (line.options.has('help') || !verb) return await help(line)
    return await runVerb(verb, matchCall(verb, line).input, line, signals)
  } catch (error) {
    const interrupted = signals.exit()
    if (interrupted !== null) {
      write(2, 'automaton: interrupted\n')
      return interrupted
    }
    return await fail(error, command, json)
  }
}

/** The tick's rule comes before any other complaint, but help is for everybody. */
function takeHelpFirst(words: readonly string[], verb: Verb | null): CommandLine {
  const asked = words.includes('--help') || words.includes('-h')
  if (verb && !asked) checkTick(verb, process.env)
  return takeApart(words, verbs)
}

async function runVerb(verb: Verb, input: Input, line: CommandLine, signals: Signals): Promise<ExitCode> {
  const app = createApp({
    env: process.env,
    cwd: currentFolder(),
    version: typeof AUTOMATON_VERSION === 'string' ? AUTOMATON_VERSION : '0.0.0-source',
    project: line.options.get('project')?.[0],
    // A scheduler mails every byte of a scheduled tick, so it says nothing but its answer.
    progress: line.options.has('scheduled') ? () => {} : (text) => void write(2, `${safeLines(text)}\n`),
    self:
      Bun.main.includes('$bunfs') || Bun.main.includes('~BUN')
        ? [process.execPath]
        : [process.execPath, Bun.main],
    signal: verb.waits ? signals.signal : new AbortController().signal,
    terminal: openTerminal(),
    permit: async (asked) => {
      await checkSession(verb, asked, input, process.pid)
      await checkFolders(verb, asked)
    },
  })
  await checkEnvironment(verb, app)
  await app.permit()
  const json = verb.alwaysJson || line.options.has('json')
  const print = async (answer: Omit<Answer, 'exit'>) =>
    write(1, await render(answer, json, line.options.has('no-color')))
  const answer = await verb.run(app, input, async (later) => (await print(later)) === 'written')
  const written = answer && !answer.silent ? await print(answer) : 'written'
  const exit = signals.exit() ?? answer?.exit ?? exitCodes.ok
  if (written !== 'failed' || exit !== exitCodes.ok) return exit
  throw lost()
}

async function render(answer: Omit<Answer, 'exit'>, json: boolean, noColor: boolean): Promise<string> {
  if (json) return (await import('./json.ts')).jsonLine(answer.report)
  const { openPage } = await import('./page.ts')
  const text = await answer.text(await openPage(process.env, noColor))
  return text === '' ? '' : `${text}\n`
}

async function help(line: CommandLine): Promise<ExitCode> {
  const version = typeof AUTOMATON_VERSION === 'string' ? AUTOMATON_VERSION : '0.0.0-source'
  if (line.options.has('version') && !line.options.has('help')) return told(`automaton ${version}`)
  const [{ helpReport, helpText }, { openPage }] = await Promise.all([
    import('./help.ts'),
    import('./page.ts'),
  ])
  const report = helpReport({ verbs, verb: line.verb, version })
  if (line.options.has('json')) return told((await import('./json.ts')).jsonLine(report).trimEnd())
  const page = await openPage(process.env, line.options.has('no-color'))
  return told(helpText({ verbs, verb: line.verb, version, page }))
}

function told(text: string): ExitCode {
  if (write(1, `${text}\n`) === 'failed') throw lost()
  return exitCodes.ok
}

/** An answer that went nowhere is not passed off as done. */
function lost() {
  return errors.writeFailed('standard output', 'the answer could not be written')
}

async function fail(error: unknown, command: string, json: boolean): Promise<ExitCode> {
  const [{ failureJson, failureOf, failureText }, { widthOf }] = await Promise.all([
    import('./failure.ts'),
    import('./page.ts'),
  ])
  const failure = failureOf(error, command)
  // Programs and logs get two lines, whatever their length.
  const width = isTerminal(2) ? widthOf(process.env) : null
  write(2, json ? failureJson(failure) : failureText(failure, width))
  if (failure.exit === exitCodes.bug && process.env.AUTOMATON_DEBUG && error instanceof Error) {
    write(2, `${error.stack ?? ''}\n`)
  }
  return failure.exit
}

function currentFolder(): string {
  try {
    return process.cwd()
  } catch {
    throw errors.folderMissing('the current folder', 'it was deleted or moved')
  }
}
