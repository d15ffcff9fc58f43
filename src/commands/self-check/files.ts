import { closeSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { writeAtomic } from '../../store/atomic.ts'
import { acquire, type Busy, type Lock } from '../../store/lock.ts'
import { isWindows } from '../../system/platform.ts'
import { type Bench, expect, runPart } from './bench.ts'

/** A file is replaced as a whole, and nothing else is left in its folder. Whoever reads the old one still has it, but on Windows, where writing waits for readers. */
export async function write({ folder }: Bench): Promise<string> {
  const file = join(folder, 'file')
  writeAtomic(file, 'first')
  const reader = isWindows ? null : openSync(file, 'r')
  try {
    writeAtomic(file, 'second')
    expect(
      reader === null || readFileSync(reader, 'utf8') === 'first',
      'a reader of the old file saw the new one',
    )
  } finally {
    if (reader !== null) closeSync(reader)
  }
  expect(readFileSync(file, 'utf8') === 'second', 'the file does not hold what was written')
  const left = readdirSync(folder).filter((name) => name !== 'file' && name !== 'home')
  expect(left.length === 0, `writing left ${left.join(', ')} behind`)
  const mode = statSync(file).mode & 0o777
  expect(isWindows || mode === 0o600, `the file's mode is ${mode.toString(8)}`)
  return `a file was replaced${isWindows ? '' : ' while it was read'}`
}

/** A lock that another process holds is busy, and free as soon as that process is gone, however it went. */
export async function lock(bench: Bench): Promise<string> {
  const file = join(bench.folder, 'lock')
  const stop = new AbortController()
  const second = Promise.withResolvers<Lock | Busy | null>()
  const holder = await runPart(bench, ['hold', file], {
    signal: AbortSignal.any([stop.signal, bench.app.signal]),
    graceMs: 0,
    onLine: (line) => {
      if (line === 'held') second.resolve(acquire(file, { waitMs: 0 }))
      void second.promise.finally(() => stop.abort())
    },
  })
  second.resolve(null)
  const found = await second.promise
  expect(found !== null, `the other process did not hold the lock: ${holder.stderr.trim() || holder.ended}`)
  if (!found.busy) found.release()
  expect(found.busy, 'a lock that another process holds could be taken')
  const after = await acquire(file, { waitMs: 5000 })
  expect(!after.busy, 'the lock of a process that was killed stayed busy')
  after.release()
  return 'busy while another process held it, free when that was killed'
}
