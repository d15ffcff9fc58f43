/** Windows takes a command line of so many characters, its end mark included. */
export const longestLine = 32_766
/** The command interpreter takes fewer. */
export const longestScriptLine = 8190

/** How long the line is that these words make. */
export function lineLength(argv: readonly string[]): number {
  return argv.reduce((sum, word) => sum + quoteWord(word).length + 1, -1)
}

/** A word as programs read it back from their command line (the rules of `CommandLineToArgvW`). */
export function quoteWord(word: string): string {
  if (word !== '' && !/[\s"]/.test(word)) return word
  const escaped = word.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')
  return `"${escaped}"`
}

/**
 * The line behind `cmd.exe /d /s /c` that runs a script with these arguments; null when the interpreter would take a
 * character of them for its own. It reads them more than once, also inside of the script, so that no way of quoting them
 * is safe: only words without such characters get there.
 */
export function scriptLine(script: string, args: readonly string[]): string | null {
  if (/["%!^&\r\n]/.test(script) || args.some((word) => /["%!^&|<>()=;,\p{Cc}]/u.test(word))) return null
  const words = args.map((word) =>
    /^[\w@+:./\\~-]+$/.test(word) ? word : `"${word.replace(/\\+$/, '$&$&')}"`,
  )
  return `"${[`"${script}"`, ...words].join(' ')}"`
}
