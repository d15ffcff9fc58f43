import * as v from 'valibot'
import { AutomatonError, errors } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import type { TaskState } from '../machine/task.ts'
import { isPassing } from '../system/passing.ts'
import { appendLine, plainReason, readBytes, writeAtomic } from './atomic.ts'
import {
  type Chain,
  cutAfter,
  formatRecord,
  hashOf,
  type Link,
  type LogRecord,
  lastLine,
  noHash,
  type RecordedState,
  readLink,
  setAside,
  walkChain,
} from './chain.ts'
import type { LoopPlaces } from './layout.ts'
import { firstIssue, LoopRecordSchema, LoopStateSchema } from './schema.ts'

/** What a loop's state and log say together. */
export type Loaded =
  /** There is neither. */
  | { kind: 'untracked' }
  | {
      kind: 'tracked'
      /** As it is on disk. */
      state: LoopState
      /** The log's last record, where the state does not have it yet: a write that did not finish. */
      ahead: LogRecord | null
      /** Hash of the log's last line. */
      head: string
    }

/** What a commit writes down besides the state. */
export interface Entry {
  /** What happened, such as `tick`, `halt`, `approve`. */
  type: string
  run: string | null
  by: string
  data: Record<string, unknown>
  at: string
  /** The task as this write leaves it, where it moves one. */
  task?: TaskState | null
  /**
   * Cut off a log that is not the one that the caller's state follows, instead of refusing. Only for a halt that
   * says so, since a person must then look at it.
   */
  mend?: boolean
}

/**
 * Reads a loop's state and checks it against its whole log; writes nothing. Throws `state_damaged`,
 * `state_too_new` or `state_tampered`; there is no fresh state in place of a bad one. `repair` (only under the
 * lock) moves the unfinished last line of an interrupted write out of the log.
 */
export function load(places: LoopPlaces, { repair = false }: { repair?: boolean } = {}): Loaded {
  for (let left = repair ? 0 : 8; ; left--) {
    const text = readStateText(places)
    try {
      return verify(places, text, repair)
    } catch (error) {
      // Without the lock, state and log may be of different moments; then the state has changed meanwhile.
      if (left === 0 || readStateText(places) === text) throw error
    }
  }
}

/** The state after everything in the log, also where the last write did not finish. */
export function latest({ state, ahead, head }: Extract<Loaded, { kind: 'tracked' }>): LoopState {
  return ahead ? { ...ahead.state, log_head: head } : state
}

/** Finishes a write whose log line is there and whose state is not. Does nothing where that was done already. The caller holds the lock. */
export function completeAhead(places: LoopPlaces, loaded: Extract<Loaded, { kind: 'tracked' }>): LoopState {
  if (!loaded.ahead) return loaded.state
  const now = load(places, { repair: true })
  if (now.kind === 'untracked')
    throw errors.stateDamaged(places.state, 'it has just been removed', places.name)
  if (now.ahead) writeState(places, latest(now))
  return latest(now)
}

/**
 * Writes `next`: one log line that carries it, then the state file. Returns it with its place in the log. From
 * the line on, the write will be finished, if need be by the next one who may write. `between` runs after the line
 * and before the state: what it writes (the record's task) must be writable again by whoever finishes. The caller
 * holds the lock, and `current` is what it loaded or committed last. Throws `state_tampered` when the log does not
 * end at `current`, and `write_failed`.
 */
export function commit(
  places: LoopPlaces,
  current: LoopState,
  next: LoopState,
  entry: Entry,
  between?: () => unknown,
): LoopState {
  const { type, run, by, data, at, task = null, mend = false } = entry
  const last = mend ? mendLog(places, current, at) : checkLog(places, current)
  const state = recorded({ ...next, seq: last.seq + 1, updated_at: at })
  const line = formatRecord({ prev: last.hash, seq: state.seq, at, type, run, by, data, task, state })
  if (line.length > largest) throw errors.writeFailed(places.log, `the record has ${line.length} characters`)
  appendLine(places.log, line)
  between?.()
  const written = { ...state, log_head: hashOf(line) }
  writeState(places, written)
  return written
}

/** Writes down that the loop was looked at, which is not worth a log line. The caller holds the lock. */
export function touch(
  places: LoopPlaces,
  state: LoopState,
  at: { lastTickAt: string; now?: string },
): LoopState {
  const next = { ...state, last_tick_at: at.lastTickAt, updated_at: at.now ?? at.lastTickAt }
  recorded(next)
  writeState(places, next)
  return next
}

/** For display: what can be told of a loop, and what is wrong with it. Never throws. An untracked loop is `null` without a problem. */
export function peek(places: LoopPlaces): { state: LoopState | null; problem: AutomatonError | null } {
  try {
    const loaded = load(places)
    return { state: loaded.kind === 'tracked' ? latest(loaded) : null, problem: null }
  } catch (error) {
    const known = error instanceof AutomatonError
    const problem = known ? error : errors.stateDamaged(places.state, plainReason(error), places.name)
    return { state: salvageState(places), problem }
  }
}

/**
 * For a look at many loops: the state file alone where the log ends at it, which its last line says without the rest
 * being read; else what {@link peek} finds. Never throws.
 */
export function glance(places: LoopPlaces): LoopState | null {
  const state = salvageState(places)
  return state !== null && endsAt(places, state) ? state : peek(places).state
}

function endsAt(places: LoopPlaces, state: LoopState): boolean {
  try {
    return lastLine(places.log)?.hash === state.log_head
  } catch {
    return false
  }
}

/** The state file alone, unchecked against the log; null when it cannot be read. */
export function salvageState(places: LoopPlaces): LoopState | null {
  try {
    const text = readStateText(places)
    return text === null ? null : parseState(places, text)
  } catch {
    return null
  }
}

/**
 * The history, oldest first: all of it, what follows record `after`, or the `last` records. Never throws: a log
 * that goes bad is read up to there, and {@link peek} says what is wrong.
 */
export function readLog(places: LoopPlaces, { after = 0, last = Number.MAX_SAFE_INTEGER } = {}): LogRecord[] {
  const records: LogRecord[] = []
  try {
    const links = walkChain(places.log)?.links.filter((link) => link.seq > after) ?? []
    for (const link of links.slice(Math.max(0, links.length - last))) {
      const record = readLink(places.log, link)
      if (typeof record === 'string') break
      records.push(record)
    }
  } catch {
    // It is no file that can be read; what was read so far is all there is.
  }
  return records
}

/** Bytes of a state file, and characters of a log line, that are still believed. */
const largest = 1 << 26

function verify(places: LoopPlaces, text: string | null, repair: boolean): Loaded {
  const { name, state: stateFile, log } = places
  const tampered = (file: string, why: string) => errors.stateTampered(file, why, name)
  const chain = chainOf(places)
  const last = chain?.links.at(-1)
  if (text === null) {
    if (!chain) return { kind: 'untracked' }
    const why = `it is missing, but its log ${last ? `has history up to record ${last.seq}` : 'is there'}`
    throw errors.stateDamaged(stateFile, why, name)
  }
  const state = parseState(places, text)
  if (!chain) throw tampered(log, `it is missing, but the state is at record ${state.seq}`)
  if (chain.broken !== null) throw tampered(log, chain.broken)
  const reached = last?.seq ?? 0
  if (!last || state.seq > reached) {
    throw tampered(log, `it ends at record ${reached}, but the state is at record ${state.seq}`)
  }
  if (state.seq < reached - 1) {
    throw tampered(stateFile, `the state went back from record ${reached} to ${state.seq}`)
  }
  const own = chain.links[state.seq - 1]
  if (!own || own.hash !== state.log_head) {
    throw tampered(stateFile, `log_head is not the hash of record ${state.seq}`)
  }
  const changed = differing(recordAt(places, own).state, state)
  if (changed !== null) throw tampered(stateFile, `${changed} is not what record ${state.seq} says`)
  const ahead = state.seq < reached ? recordAt(places, last) : null
  if (repair && chain.torn > 0) cutAfter(log, last)
  return { kind: 'tracked', state, ahead, head: last.hash }
}

/** What differs between a record and the state that should be its; `touch` may change the two times. */
function differing(record: RecordedState, state: LoopState): string | null {
  const keys = Object.keys(record) as (keyof RecordedState)[]
  const free: readonly string[] = ['last_tick_at', 'updated_at']
  return keys.find((key) => !free.includes(key) && !Bun.deepEquals(record[key], state[key], true)) ?? null
}

function chainOf(places: LoopPlaces): Chain | null {
  try {
    return walkChain(places.log)
  } catch (error) {
    throw errors.stateDamaged(places.log, plainReason(error), places.name)
  }
}

function recordAt(places: LoopPlaces, link: Link): LogRecord {
  const record = readLink(places.log, link)
  if (typeof record !== 'string') return record
  throw errors.stateDamaged(places.log, `record ${link.seq}: ${record}`, places.name)
}

function readStateText(places: LoopPlaces): string | null {
  try {
    const bytes = readBytes(places.state, largest)
    // A byte order mark is kept, so that it is seen as the damage that it is.
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    const why = error instanceof TypeError ? 'it is not UTF-8 text' : plainReason(error)
    throw errors.stateDamaged(places.state, why, places.name)
  }
}

function parseState(places: LoopPlaces, text: string): LoopState {
  const damaged = (why: string) => errors.stateDamaged(places.state, why, places.name)
  if (text.trim() === '') throw damaged('it is empty')
  // Automaton never writes a carriage return, and JSON has none inside of its strings.
  if (text.includes('\r')) throw damaged('its line ends are not those that automaton writes')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw damaged('it is not JSON')
  }
  const version = v.safeParse(v.looseObject({ schema_version: v.pipe(v.number(), v.minValue(2)) }), value)
  if (version.success) throw errors.stateTooNew(places.state, version.output.schema_version)
  const read = v.safeParse(LoopStateSchema, value)
  if (!read.success) throw damaged(firstIssue(read.issues))
  if (read.output.name === places.name) return read.output
  throw errors.stateTampered(places.state, `it is the state of ${read.output.name}`, places.name)
}

/** A log that ends where the caller's state does; an unfinished line after that is moved out of it. */
function checkLog(places: LoopPlaces, current: LoopState): { hash: string; seq: number } {
  const last = ofLog(places, () => lastLine(places.log))
  const hash = last?.hash ?? noHash
  const expected = current.seq === 0 ? noHash : current.log_head
  if (hash !== expected) {
    throw errors.stateTampered(places.log, `it does not end at record ${current.seq}`, places.name)
  }
  cutAfter(places.log, last)
  return { hash, seq: current.seq }
}

/** Keeps of the log what leads to the caller's state, and failing that what leads up to before it. */
function mendLog(places: LoopPlaces, current: LoopState, at: string): { hash: string; seq: number } {
  let links: Link[] = []
  try {
    links = walkChain(places.log)?.links ?? []
  } catch (error) {
    // A fault that passes is no damage.
    if (isPassing(error)) throw errors.readFailed(places.log, plainReason(error), error)
    setAside(places.log, at)
  }
  const own = links[current.seq - 1]
  const kept =
    own?.hash === current.log_head ? own : (links[Math.min(links.length, current.seq - 1) - 1] ?? null)
  cutAfter(places.log, kept)
  return { hash: kept?.hash ?? noHash, seq: kept?.seq ?? 0 }
}

function ofLog<T>(places: LoopPlaces, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw errors.stateDamaged(places.log, plainReason(error), places.name)
  }
}

/** The state as a record keeps it. What no reader would accept is not written: that is a bug of the caller. */
function recorded(state: LoopState): RecordedState {
  const { log_head: _, ...rest } = state
  const checked = v.safeParse(LoopRecordSchema, rest)
  if (checked.success) return checked.output
  throw new Error(`a state that nobody could read: ${firstIssue(checked.issues)}`)
}

function writeState(places: LoopPlaces, state: LoopState): void {
  writeAtomic(places.state, `${JSON.stringify(state, null, 2)}\n`)
}
