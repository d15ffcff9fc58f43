import { join } from 'node:path'
import * as v from 'valibot'
import { errors } from '../errors.ts'
import { readBounded, writeAtomic } from './atomic.ts'

/**
 * What an installation has once done for a default loop. A loop that was made and is not there any more was deleted by a
 * person, and stays so.
 */
export type InstallRecord = v.InferOutput<typeof Record>

const Record = v.object({
  schema_version: v.literal(1),
  /** By the name of the loop. */
  loops: v.record(v.string(), v.object({ made: v.boolean(), scheduled: v.boolean() })),
})

/** In the git folder: it belongs to this machine, a commit cannot carry it, and no `git clean` takes it. */
export function installRecordFile(gitDir: string): string {
  return join(gitDir, 'automaton-install.json')
}

/** The record of a HOME; an empty one before the first installation. Throws `read_failed` for one that is damaged. */
export function readInstallRecord(gitDir: string): InstallRecord {
  const file = installRecordFile(gitDir)
  const text = readBounded(file, 1 << 16)
  if (text === null) return { schema_version: 1, loops: {} }
  try {
    return v.parse(Record, JSON.parse(text))
  } catch (error) {
    throw errors.readFailed(file, 'it is not what an installation wrote', error)
  }
}

/** Writes the record. Throws `write_failed`. */
export function writeInstallRecord(gitDir: string, record: InstallRecord): void {
  writeAtomic(installRecordFile(gitDir), `${JSON.stringify(record, null, 2)}\n`)
}
