import type { Page } from '../page.ts'

/** The commands that a person types next, never wrapped, so that they can be copied. */
export function nextLines(commands: readonly string[], { colors }: Page): string[] {
  return commands.map((command, i) => `${i === 0 ? 'next  ' : '      '}${colors.bold(command)}`)
}
