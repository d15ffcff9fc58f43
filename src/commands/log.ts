import { watch } from 'node:fs'
import { basename } from 'node:path'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { readBounded } from '../store/atomic.ts'
import type { LogRecord } from '../store/chain.ts'
import { peek, readLog } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { filesOfTick } from '../store/outputs.ts'
import { wait } from '../system/wait.ts'
import { existingLoop } from './held.ts'
import { tickDiff } from './tick-diff.ts'

/** One line of history; `data` depends on `type`. */
export type HistoryLine = Pick<LogRecord, 'seq' | 'at' | 'type' | 'run' | 'by' | 'data'>

/** A loop's history, oldest first. */
export interface LogReport {
  loop: string
  records: HistoryLine[]
  /** Where the log goes bad, or null. */
  problem: string | null
}

/** One tick with everything that is kept of it. */
export interface TickLogReport {
  loop: string
  tick: number
  records: HistoryLine[]
  files: { name: string; text: string }[]
  /** What the tick changed; null when that is no longer known. */
  diff: string | null
  /** Where that is, if it was not committed: a ref, or the worktree's folder. */
  aside: string | null
}

const fileLimit = 4 << 20
const pollMs = 500

/** The history of a loop. */
export function log(app: App, o: { loop: string }): LogReport {
  const places = existingLoop(app.project(), o.loop)
  return { loop: o.loop, records: readLog(places).map(line), problem: peek(places).problem?.message ?? null }
}

/** One tick's prompts, artifact, verdict and diff. Throws `no_tick`. */
export async function tickLog(app: App, o: { loop: string; tick: number }): Promise<TickLogReport> {
  const project = app.project()
  const places = existingLoop(project, o.loop)
  const all = readLog(places)
  const records = all.filter((record) => record.data.tick === o.tick)
  const files = filesOf(places, o.tick)
  if (records.length === 0 && files.length === 0) throw noTick(o, all)
  const changed = await tickDiff({ root: project.root, places, all, tick: o.tick })
  return { loop: o.loop, tick: o.tick, records: records.map(line), files, ...changed }
}

/** Hands out what is added to a loop's history until told to stop, or until nobody reads any more. */
export async function followLog(
  app: App,
  o: { loop: string; after: number; emit: (report: LogReport) => Promise<boolean> },
): Promise<void> {
  const places = existingLoop(app.project(), o.loop)
  let after = o.after
  let wake = () => {}
  using watcher = watching(places.dir, () => wake())
  while (!app.signal.aborted) {
    const records = readLog(places, { after })
    after = records.at(-1)?.seq ?? after
    const report = { loop: o.loop, records: records.map(line), problem: null }
    if (records.length > 0 && !(await o.emit(report))) return
    // A network file system tells nothing, so that it also looks by itself.
    const changed = new Promise<void>((resolve) => {
      wake = resolve
    })
    await Promise.race([changed, wait(watcher.works ? pollMs * 10 : pollMs, app.signal)])
  }
}

function watching(dir: string, changed: () => void): Disposable & { works: boolean } {
  try {
    const watcher = watch(dir, changed)
    watcher.on('error', () => {})
    return { works: true, [Symbol.dispose]: () => watcher.close() }
  } catch {
    return { works: false, [Symbol.dispose]: () => {} }
  }
}

function line({ seq, at, type, run, by, data }: LogRecord): HistoryLine {
  return { seq, at, type, run, by, data }
}

function noTick(o: { loop: string; tick: number }, all: LogRecord[]) {
  const ticks = all.flatMap((record) => (typeof record.data.tick === 'number' ? [record.data.tick] : []))
  const known = ticks.length === 0 ? 'the loop has not ticked yet' : `there are 1 to ${Math.max(...ticks)}`
  return errors.usage(`no such tick (${o.tick} of ${o.loop})`, known, `automaton log ${o.loop}`)
}

function filesOf(places: LoopPlaces, tick: number): TickLogReport['files'] {
  return filesOfTick(places, tick).map((file) => ({ name: basename(file), text: textOf(file) }))
}

function textOf(file: string): string {
  try {
    return readBounded(file, fileLimit) ?? ''
  } catch {
    return `[too large to show: ${file}]`
  }
}
