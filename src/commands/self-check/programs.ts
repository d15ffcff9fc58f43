import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, type ProcessIdentity } from '../../system/process.ts'
import { type Bench, expect, runPart } from './bench.ts'
import { members } from './part.ts'

/** Words that a shell, or the quoting of a command line, would spoil. */
const words = [
  'two words',
  'a"b',
  "it's",
  '%PATH% $HOME `x` ^&|<>',
  'Grüße ✓',
  'line\nline',
  'back\\slash\\',
  '',
]

/** A program gets its arguments to the letter, and what it prints comes back so. */
export async function spawn(bench: Bench): Promise<string> {
  const run = await runPart(bench, ['echo', ...words])
  expect(run.exitCode === 0, `this binary ended with ${run.exitCode ?? run.signal}: ${run.stderr.trim()}`)
  const heard: unknown = JSON.parse(run.stdout)
  expect(JSON.stringify(heard) === JSON.stringify(words), `the arguments arrived as ${run.stdout.trim()}`)
  return `${words.length} odd arguments arrived as they are`
}

/** Ending a program ends what it started: a child, and a grandchild in a session of its own whose parent is gone. */
export async function kill(bench: Bench): Promise<string> {
  const stop = new AbortController()
  const runId = `self-${randomBytes(4).toString('hex')}`
  await runPart(bench, ['tree', bench.folder], {
    signal: AbortSignal.any([stop.signal, bench.app.signal]),
    env: { ...bench.env, AUTOMATON_RUN_ID: runId },
    runId,
    graceMs: 200,
    onLine: (line) => {
      if (line === 'grown') stop.abort()
    },
  })
  const [alive, gone] = [[] as string[], [] as string[]]
  for (const name of members) {
    const file = join(bench.folder, name)
    expect(existsSync(file), `the ${name} did not start`)
    ;(isAlive(identityIn(file)) ? alive : gone).push(name)
  }
  expect(alive.length === 0, `${alive.join(' and ')} still run`)
  return `${gone.join(', ')} ended with it`
}

/** Who a process of the part `tree` said that it is. */
function identityIn(file: string): ProcessIdentity {
  const [pid, start = '', boot = ''] = readFileSync(file, 'utf8').split('\n')
  return { pid: Number(pid), start, boot }
}
