import { win32 } from 'node:path'

/** What a command script starts: a program, and arguments that stand before the caller's own. */
export interface Shim {
  /** An absolute path, or a bare name that is looked for beside the script first and then on PATH. */
  program: string
  args: string[]
}

/**
 * Reads a script as package managers write them, whose whole work is to hand its arguments to one program: npm, pnpm,
 * yarn, scoop. Null for any other script. `folder` is the script's own. Sources: npm's cmd-shim, `@zkochan/cmd-shim`.
 */
export function readShim(text: string, folder: string): Shim | null {
  // Of the two ways that such a script may have, the last one is for when no node.exe lies beside it.
  const call = text.split(/\r?\n/).findLast((line) => callIn(line) !== null) ?? ''
  const named = /^\s*@?set\s+"?_prog=([^"%\s]+)"?\s*$/im.exec(text)?.[1]
  const [program, ...args] = (callIn(call) ?? []).map((word) => expand(word, folder, named))
  if (!program || args.includes(null) || isScript(program)) return null
  if (!win32.isAbsolute(program) && /[\\/]/.test(program)) return null
  return { program, args: args.filter((word) => word !== null) }
}

/** Whether a file is run by the command interpreter, which takes some characters of arguments for its own. */
export function isScript(file: string): boolean {
  return /\.(?:cmd|bat)$/i.test(file)
}

/** The words of the command at the end of a line that hands on all arguments (`… %*`); null for other lines. */
function callIn(line: string): string[] | null {
  const command = /^\s*(.*?)\s+%\*\s*\)?\s*$/.exec(line)?.[1]
  if (command === undefined) return null
  // Before the command others may stand: `… || title %COMSPEC% & "%_prog%" …`.
  const last = outsideQuotes(command, '&').at(-1)?.trim().replace(/^@/, '') ?? ''
  const words = last.match(/"[^"]*"|[^\s"]+/g) ?? []
  return words.some((word) => /^[^"]*[&|<>^()]/.test(word))
    ? null
    : words.map((word) => word.replace(/"/g, ''))
}

function outsideQuotes(text: string, sign: string): string[] {
  const parts = ['']
  let quoted = false
  for (const char of text) {
    if (char === '"') quoted = !quoted
    if (char === sign && !quoted) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts
}

/** Null for a word with a variable that is not known here. */
function expand(word: string, folder: string, named: string | undefined): string | null {
  if (/^%_prog%$/i.test(word)) return named ?? null
  const below = /^%(?:~dp0|dp0%)\\?(.*)$/i.exec(word)?.[1]
  const path = below === undefined ? word : win32.join(folder, below)
  return /%/.test(below ?? word) ? null : path
}
