import { endAdopted } from './adopted.ts'
import { isWindows } from './platform.ts'
import { reap } from './posix.ts'
import { holdersOf, ownChildren, type ProcessRow, processRow, processTable } from './process-table.ts'
import { killJob, mayBeInJob, registerInJob } from './windows/tree.ts'

/** A program and whatever it started. */
export interface Tree {
  /** Null when its number means nothing any more. */
  leader: Leader | null
  /** `AUTOMATON_RUN_ID` in the environment of its processes. */
  runId: string | null
  /** Processes seen in it earlier, which may have left it since. */
  seen?: readonly ProcessRow[]
}

/** The first process of a tree, which leads a session of its own. */
export interface Leader {
  pid: number
  group: number
  /** Its start time, or null when it is known to be the right process. */
  start: string | null
}

/** Programs of this process that run now, by pid: one tree must never end another's. */
const running = new Map<number, string>()

/** Start of the earliest program since there was last none: an orphan that is older is not ours. */
let epoch = 0

/**
 * Notes a program that this process has just started in a session of its own; its tree is off limits for every other.
 * One that is not noted would be taken for an orphan. Dispose when it has ended.
 */
export function registerProgram(pid: number): Disposable & { start: string } {
  if (isWindows) return registerInJob(pid)
  const start = processRow(pid)?.start ?? 'unknown'
  if (running.size === 0) epoch = Number(start) || 0
  running.set(pid, start)
  return { start, [Symbol.dispose]: () => void running.delete(pid) }
}

/** False when a program that has exited surely left nothing behind: a cheap look that saves most walks. */
export function mayHaveLeft(tree: Tree): boolean {
  if (isWindows) return mayBeInJob(tree)
  if (tree.runId !== null || (tree.leader && groupExists(tree.leader.group))) return true
  if (process.platform !== 'linux') return false
  const children = ownChildren()
  return children === null || children.some((pid) => !running.has(pid))
}

/** The living processes of a tree, as far as they can be found. Collects its dead ones on the way. */
export function findTree(tree: Tree): ProcessRow[] {
  const rows = processTable()
  const byPid = new Map(rows.map((row) => [row.pid, row]))
  const spared = sparedBy(rows, byPid, tree.leader?.pid)
  const holders = new Set(tree.runId === null ? [] : holdersOf(`AUTOMATON_RUN_ID=${tree.runId}`))
  const seen = new Set(tree.seen?.map(keyOf))
  const orphan = orphanTest(byPid, tree.leader?.pid)
  // The test for orphans comes first, because it also collects the dead ones.
  const roots = rows.filter(
    (row) => orphan(row) || holders.has(row.pid) || seen.has(keyOf(row)) || isLed(row, byPid, tree.leader),
  )
  return withDescendants(rows, roots, spared).filter((row) => !row.zombie)
}

/** How many processes {@link killTree} ended. */
export interface Killed {
  all: number
  /** Those that SIGTERM did not end; without the leader. */
  forced: number
  /** Something of it still runs, or kept coming: nobody can say that it is over. */
  lives: boolean
}

/**
 * Ends a tree: SIGTERM, `graceMs` of patience, then SIGKILL until none is left, and none comes any
 * more, or 2 s are over. SIGTERM goes to the
 * leader's group alone while the leader lives, so that it can end in good order what it runs elsewhere. Windows has
 * Ctrl-C and a Job Object instead.
 */
export async function killTree(tree: Tree & { graceMs: number }): Promise<Killed> {
  if (isWindows) return killJob(tree)
  const seen = new Map<string, ProcessRow>()
  const find = () => {
    const rows = findTree({ ...tree, seen: [...(tree.seen ?? []), ...seen.values()] })
    for (const row of rows) seen.set(keyOf(row), row)
    return rows
  }
  let rows = find()
  const asked = new Set<string>()
  const patience = Bun.nanoseconds() + tree.graceMs * 1e6
  while (rows.length > 0 && Bun.nanoseconds() < patience) {
    const led = rows.some((row) => row.pid === tree.leader?.pid)
    // A group is asked once: what it starts in order to clean up is left to it.
    const next = led && asked.size > 0 ? [] : rows.filter((row) => !led || row.group === tree.leader?.group)
    sendAll(
      next.filter((row) => !asked.has(keyOf(row))),
      tree.leader,
      'SIGTERM',
    )
    for (const row of next) asked.add(keyOf(row))
    await Bun.sleep(15)
    rows = find()
  }
  const forced = new Set<number>()
  const limit = Bun.nanoseconds() + 2e9
  for (;;) {
    for (const row of rows) if (row.pid !== tree.leader?.pid) forced.add(row.pid)
    sendAll(rows, tree.leader, 'SIGKILL')
    if (rows.length > 0) await Bun.sleep(5)
    const { ended, killed } = await endOrphans(tree.leader?.pid)
    for (const row of killed) {
      seen.set(keyOf(row), row)
      forced.add(row.pid)
    }
    const isOver = ended && rows.length === 0 && killed.length === 0
    if (!isOver) rows = find()
    const lives = !ended || (rows.length > 0 && Bun.nanoseconds() > limit)
    if (isOver || lives) return { all: seen.size, forced: forced.size, lives }
  }
}

/** Ends the orphans of the only program that runs. */
async function endOrphans(leader?: number): ReturnType<typeof endAdopted> {
  if (process.platform !== 'linux') return { ended: true, killed: [] }
  return endAdopted({
    isOurs: (row) => !running.has(row.pid) && (row.zombie || Number(row.start) >= epoch),
    isAlone: () => running.size > 0 && isAlone(leader),
  })
}

/** A process, not to be confused with a later one of its number. */
function keyOf(row: ProcessRow): string {
  return `${row.pid} ${row.start}`
}

function groupExists(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** In the leader's session or group, as long as that number was not handed to a stranger. */
function isLed(row: ProcessRow, byPid: Map<number, ProcessRow>, leader: Leader | null): boolean {
  if (!leader || (row.pid !== leader.pid && row.session !== leader.pid && row.group !== leader.group))
    return false
  if (leader.start === null) return true
  const now = byPid.get(leader.pid)
  if (now) return now.start === leader.start
  // The leader is gone. A stranger's group of this number would hardly lead a session of the same number too.
  return row.session === leader.pid
}

/**
 * Tests for processes that were handed to this one when their parent died (it is a subreaper then). They live in
 * sessions of their own; this process's own helpers do not. Dead ones are collected, or they would stay for ever.
 */
function orphanTest(byPid: Map<number, ProcessRow>, leader?: number): (row: ProcessRow) => boolean {
  const session = byPid.get(process.pid)?.session
  const alone = isAlone(leader)
  return (row) => {
    if (row.parent !== process.pid || row.session === session || running.has(row.pid)) return false
    if (row.zombie) reap(row.pid)
    return alone && running.size > 0 && Number(row.start) >= epoch
  }
}

/** With several programs at once nobody can tell whose an orphan is: it is left to the last of them. */
function isAlone(leader?: number): boolean {
  return running.size === 0 || (running.size === 1 && leader !== undefined && running.has(leader))
}

/** Never ended: this process, its ancestors, and the trees of the other programs that it runs. */
function sparedBy(rows: ProcessRow[], byPid: Map<number, ProcessRow>, leader?: number): Set<number> {
  const spared = new Set<number>()
  for (let row = byPid.get(process.pid); row && !spared.has(row.pid); row = byPid.get(row.parent))
    spared.add(row.pid)
  const others = rows.filter(
    (row) =>
      row.pid !== leader && (running.has(row.pid) || (row.session !== leader && running.has(row.session))),
  )
  for (const row of withDescendants(rows, others)) spared.add(row.pid)
  return spared
}

function withDescendants(rows: ProcessRow[], roots: ProcessRow[], spared?: Set<number>): ProcessRow[] {
  const children = Map.groupBy(rows, (row) => row.parent)
  const found = new Set(roots.filter((row) => !spared?.has(row.pid)))
  // A set that grows while it is walked is walked to its end.
  for (const row of found)
    for (const child of children.get(row.pid) ?? []) if (!spared?.has(child.pid)) found.add(child)
  return [...found]
}

/** The group at once while its leader lives, so that nobody escapes by forking; the others one by one. */
function sendAll(rows: ProcessRow[], leader: Leader | null, signal: NodeJS.Signals): void {
  const group = leader && rows.some((row) => row.pid === leader.pid) ? leader.group : null
  if (group !== null) send(-group, signal)
  for (const row of rows) {
    // Looked at again just before the signal: a number that changed hands is spared.
    if (row.group !== group && processRow(row.pid)?.start === row.start) send(row.pid, signal)
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself, or belongs to another user.
  }
}
