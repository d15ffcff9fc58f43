import { readdirSync, readFileSync } from 'node:fs'

/** Command lines of the running processes whose environment holds `NAME=value`, or one that fits; Linux only. */
export function processesWith(variable: string | ((variable: string) => boolean)): string[] {
  const fits = typeof variable === 'string' ? (other: string) => other === variable : variable
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => read(`/proc/${pid}/environ`).split('\0').some(fits))
    .map((pid) => `${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()}`)
}

/** A process may end, or be another user's, between the listing and the look. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
