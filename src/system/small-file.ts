import { readFileSync, statSync } from 'node:fs'

const limit = 16 << 20

/** The text of a small file; null when it is missing, is over 16 MiB, or is no file. Never waits, as a named pipe would make it. */
export function readSmall(file: string): string | null {
  try {
    const stat = statSync(file)
    return stat.isFile() && stat.size <= limit ? readFileSync(file, 'utf8') : null
  } catch {
    return null
  }
}

/** Its first line. */
export function readLine(file: string): string | null {
  return readSmall(file)?.split('\n', 1)[0] ?? null
}
