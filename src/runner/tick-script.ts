import { isKeptOut, unsafeNames } from '../system/environment.ts'

/** What a tick script does: the same tick from the same place, whatever the scheduler's own environment is. */
export interface TickScript {
  loop: string
  project: string
  /** Program and arguments that start automaton; the program by its absolute path. */
  self: readonly string[]
  /** All that the tick sees, `HOME` and `PATH` among it. */
  env: Readonly<Record<string, string>>
  /** Names of variables that the tick sees where the scheduler has them: those of `harness.env`. */
  passed: readonly string[]
  /** `scheduled.log` of the loop. */
  log: string
}

/**
 * The script for `/bin/sh`: three lines. Nothing of the scheduler's environment gets through, so that no variable of it
 * can load code. A program that has moved is said in the log, once until something else is written there, and nowhere
 * else: schedulers mail what is printed.
 */
export function shellScript(script: TickScript): string {
  const program = word(script.self[0] ?? '')
  const log = word(script.log)
  const gone = word(goneText(script))
  const pairs = Object.entries(script.env).map(([name, value]) => `${name}=${word(value)}`)
  const passed = script.passed
    .filter((name) => isPassable(name) && !Object.hasOwn(script.env, name))
    .map((name) => `\${${name}+"${name}=$${name}"}`)
  const say = `printf '%s %s\\n' "$(date -u +%Y-%m-%dT%H:%M:%S.000Z)" ${gone} >>${log}`
  const note = `tail -n 1 ${log} 2>/dev/null | grep -qF ${gone} || ${say}`
  return [
    '#!/bin/sh',
    `[ -x ${program} ] || { ${note}; exit 127; }`,
    ['exec /usr/bin/env -i', ...pairs, ...passed, ...commandOf(script).map(word)].join(' '),
    '',
  ].join('\n')
}

/** The same for cmd.exe. It inherits the variables of the person's account, but for those that load code. */
export function cmdScript(script: TickScript): string {
  const program = script.self[0] ?? ''
  const cleared = unsafeNames.filter((name) => !name.endsWith('*')).map((name) => `set "${name}="`)
  const set = Object.entries(script.env).map(([name, value]) => `set "${name}=${cmdText(value)}"`)
  const now = `powershell -NoProfile -Command "[DateTime]::UtcNow.ToString('yyyy-MM-ddTHH:mm:ss.000Z')"`
  const log = `"${cmdText(script.log)}"`
  const gone = cmdText(goneText(script)).replace(/[&|<>^()]/g, '^$&')
  const isNoted = `findstr /L /C:"the program is no longer" ${log} >nul 2>nul`
  const isGone = `@if not exist "${cmdText(program)}"`
  return [
    '@chcp 65001 >nul',
    `${isGone} (${isNoted} || for /f %%t in ('${now}') do @echo %%t ${gone}>>${log})`,
    `${isGone} exit /b 127`,
    `@setlocal & ${[...cleared, ...set, commandOf(script).map(cmdWord).join(' ')].join(' & ')}`,
    '',
  ].join('\r\n')
}

/** What a script of {@link shellScript} runs and sees; null for a text that this automaton would not have written. */
export function readShellScript(text: string): Pick<TickScript, 'env' | 'self' | 'loop' | 'project'> | null {
  const words = wordsOf(text.split('\n')[2] ?? '')
  if (words?.slice(0, 3).join(' ') !== 'exec /usr/bin/env -i') return null
  const rest = words.slice(3)
  const pairs = rest.findIndex((one) => !/^(?:[A-Za-z_][A-Za-z0-9_]*=|\$)/.test(one))
  const command = rest.slice(Math.max(0, pairs))
  const tick = command.lastIndexOf('tick')
  const [loop, , , project] = command.slice(tick + 1)
  if (pairs < 0 || tick < 1 || loop === undefined || project === undefined) return null
  const env = rest
    .slice(0, pairs)
    .filter((one) => !one.startsWith('$'))
    .map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)] as const)
  return { self: command.slice(0, tick), env: Object.fromEntries(env), loop, project }
}

/** A word of `/bin/sh`, whatever is in it. */
function word(text: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The words of a line that {@link word} made; null where there is something else. */
function wordsOf(line: string): string[] | null {
  const found: string[] = []
  const parts = /(?:'[^']*'|\\'|[A-Za-z0-9_./:@%+=,-]|\$\{\w+\+"\w+=\$\w+"\})+| +|[\s\S]/g
  for (const [part] of line.matchAll(parts)) {
    if (/^ +$/.test(part)) continue
    if (part.length === 1 && !/[A-Za-z0-9_./:@%+=,-]/.test(part)) return null
    found.push(part.startsWith('$') ? part : part.replace(/'([^']*)'|\\(')/g, '$1$2'))
  }
  return found
}

function commandOf({ self, loop, project }: TickScript): string[] {
  return [...self, 'tick', loop, '--scheduled', '--project', project]
}

function goneText({ self, loop }: TickScript): string {
  return `the program is no longer at ${self[0]}; fix: automaton install-schedule ${loop}`
}

/** Nothing may come in that way that the clean environment is there to keep out. */
function isPassable(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !isKeptOut(name) && !name.startsWith('AUTOMATON_')
}

/** Inside of double quotes, in a file. */
function cmdText(text: string): string {
  return text.replaceAll('%', '%%')
}

function cmdWord(text: string): string {
  return /^[A-Za-z0-9_./:\\-]+$/.test(text) ? text : `"${cmdText(text).replace(/\\+$/, '$&$&')}"`
}
