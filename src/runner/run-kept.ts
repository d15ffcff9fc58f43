import type { LoopPlaces } from '../store/layout.ts'
import { type RunRecord, readRun, writeRun } from '../store/run.ts'
import { hashesOfRecords, recordNames } from './brakewire.ts'

/**
 * Runs something that writes state and log while a dead tick may wait to be cleaned up after. Its run.json says how they
 * were before its session; what automaton itself writes must not look like that session's doing later on. Where they
 * differ already, run.json stays as it is. The caller holds the lock.
 */
export async function keepingRun<T>(places: LoopPlaces, write: () => T | Promise<T>): Promise<T> {
  const before = deadRun(places)
  const isAsRecorded = before !== null && agrees(before, hashesOfRecords(places))
  const result = await write()
  if (isAsRecorded) refreshRun(places)
  return result
}

/** Makes a dead tick's run.json, if there is one, say how state and log are now. */
export function refreshRun(places: LoopPlaces): void {
  const run = deadRun(places)
  if (!run) return
  const now = hashesOfRecords(places)
  if (agrees(run, now)) return
  const others = Object.entries(run.brakes).filter(([name]) => !recordNames.includes(name))
  writeRun(places, { ...run, brakes: { ...Object.fromEntries(others), ...now } })
}

function deadRun(places: LoopPlaces): RunRecord | null {
  const run = readRun(places)
  // While a tick settles or looks for work, automaton itself writes, and nothing is compared.
  return run === null || 'problem' in run || run.step === 'settle' || run.task === null ? null : run
}

function agrees({ brakes }: RunRecord, now: Record<string, string>): boolean {
  return recordNames.every((name) => brakes[name] === now[name])
}
