import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { AutomatonError } from '../../src/errors.ts'
import { load, peek } from '../../src/store/journal.ts'
import type { LoopPlaces } from '../../src/store/layout.ts'

/** A file's text. */
export const text = (file: string) => readFileSync(file, 'utf8')
/** The log's lines. */
export const lines = (places: LoopPlaces) => text(places.log).trimEnd().split('\n')

/** How a load ends: the error's code, or `ok`, `ahead`, `untracked`. */
export function outcome(places: LoopPlaces, options = {}): string {
  try {
    const loaded = load(places, options)
    return loaded.kind === 'untracked' ? 'untracked' : loaded.ahead ? 'ahead' : 'ok'
  } catch (error) {
    if (error instanceof AutomatonError) return error.code
    throw error
  }
}

/** What a look at the loop complains of, paths relative to the loop. */
export function why(places: LoopPlaces): string {
  return peek(places).problem?.message.replace(places.dir, '') ?? ''
}

/** Changes a file's text in one place. */
export function edit(file: string, from: string | RegExp, to: string): void {
  const before = text(file)
  const after = before.replace(from, to)
  if (after === before) throw new Error(`${from} is not in ${file}`)
  writeFileSync(file, after)
}

/** Puts something else at the place of a file, which goes aside. */
export function replace(file: string, put: (was: string) => void): void {
  renameSync(file, `${file}.was`)
  put(`${file}.was`)
}

/** Makes a named pipe. */
export function pipe(file: string): void {
  Bun.spawnSync(['mkfifo', file])
}

/** Changes the log as lines. */
export function setLines(places: LoopPlaces, change: (lines: string[]) => string[]): void {
  writeFileSync(places.log, `${change(lines(places)).join('\n')}\n`)
}
