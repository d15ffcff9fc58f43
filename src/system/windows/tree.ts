import type { ProcessRow } from '../process-table.ts'
import type { Killed, Tree } from '../tree.ts'
import { askToEnd } from './ask.ts'
import { type Job, openJob, ownJob } from './job.ts'
import { endProcess, isOlder, startOf, windowsTable } from './table.ts'

/** Programs of this process that run now, with the job of each: one tree must never end another's. */
const running = new Map<number, { start: string; job: Job | null }>()

/**
 * Puts a program that this process has just started into a job of its own. What it started in the moment before that
 * is in this process's own job, which the program was born into. Dispose when it has ended: what is left ends too.
 */
export function registerInJob(pid: number): Disposable & { start: string } {
  const job = openJob()
  job?.add(pid)
  const start = startOf(pid) ?? 'unknown'
  running.set(pid, { start, job })
  return {
    start,
    [Symbol.dispose]() {
      running.delete(pid)
      job?.close()
    },
  }
}

/** False when a program that has exited surely left nothing behind. */
export function mayBeInJob(tree: Tree): boolean {
  const job = tree.leader && running.get(tree.leader.pid)?.job
  // Beside this process, helpers such as git may be in its job: then a walk tells.
  return !job || job.members().length > 0 || (ownJob()?.members() ?? []).length > 1
}

/** Ends a tree: Ctrl-C for the program, `graceMs` of patience, then the end of its job and of what else is its. */
export async function killJob(tree: Tree & { graceMs: number }): Promise<Killed> {
  const { leader } = tree
  const seen = new Set<string>()
  const find = () => {
    const rows = findInJob(tree)
    for (const row of rows) seen.add(`${row.pid} ${row.start}`)
    return rows
  }
  // The host of a console takes a moment to follow its last program: it is no survivor.
  if (!leader || startOf(leader.pid) === null) await Bun.sleep(20)
  let rows = find()
  const patience = Bun.nanoseconds() + tree.graceMs * 1e6
  if (tree.graceMs > 0 && leader && rows.some((row) => row.pid === leader.pid)) {
    askToEnd(leader.pid)
    for (; rows.length > 0 && Bun.nanoseconds() < patience; rows = find()) await Bun.sleep(20)
  }
  const forced = new Set<number>()
  const limit = Bun.nanoseconds() + 2e9
  for (; rows.length > 0 && Bun.nanoseconds() < limit; rows = find()) {
    for (const row of rows) if (row.pid !== leader?.pid) forced.add(row.pid)
    if (leader) running.get(leader.pid)?.job?.terminate()
    for (const row of rows) endProcess(row)
    await Bun.sleep(10)
  }
  return { all: seen.size, forced: forced.size, lives: rows.length > 0 }
}

/** The living processes of a tree: its job's, its leader's descendants, and orphans in this process's own job. */
function findInJob({ leader }: Tree): ProcessRow[] {
  const rows = windowsTable().filter((row) => !row.zombie)
  const byPid = new Map(rows.map((row) => [row.pid, row]))
  const mine = leader ? running.get(leader.pid) : undefined
  const led = leader && byPid.get(leader.pid)
  const isLeader = led && (leader.start === null || leader.start === led.start) ? led : null
  const members = new Set(mine?.job?.members())
  const orphans = new Set(mine && running.size === 1 ? orphansOf(rows, byPid, mine.start) : [])
  const spared = sparedBy(byPid, leader?.pid)
  const found = rows.filter((row) => row === isLeader || members.has(row.pid) || orphans.has(row.pid))
  return withDescendants(rows, found).filter((row) => !spared.has(row.pid))
}

/**
 * Processes in this one's job whose parent is gone, and that are no older than the program. With several programs at
 * once nobody can tell whose they are.
 */
function orphansOf(rows: ProcessRow[], byPid: Map<number, ProcessRow>, since: string): number[] {
  const own = new Set(ownJob()?.members())
  return rows
    .filter((row) => own.has(row.pid) && row.pid !== process.pid && !byPid.has(row.parent))
    .filter((row) => isOlder(since, row.start))
    .map((row) => row.pid)
}

/** Never ended: this process, those above it, and the other programs that it runs with what is in their jobs. */
function sparedBy(byPid: Map<number, ProcessRow>, leader: number | undefined): Set<number> {
  const spared = new Set<number>()
  for (let row = byPid.get(process.pid); row && !spared.has(row.pid); row = byPid.get(row.parent))
    spared.add(row.pid)
  for (const [pid, { job }] of running)
    if (pid !== leader) for (const one of [pid, ...(job?.members() ?? [])]) spared.add(one)
  return spared
}

function withDescendants(rows: ProcessRow[], roots: ProcessRow[]): ProcessRow[] {
  const children = Map.groupBy(rows, (row) => row.parent)
  const found = new Set(roots)
  // A set that grows while it is walked is walked to its end.
  for (const row of found) for (const child of children.get(row.pid) ?? []) found.add(child)
  return [...found]
}
