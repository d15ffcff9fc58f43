import { readFileSync } from 'node:fs'
import { getsid, reap } from './posix.ts'
import { ownChildren, type ProcessRow, processRow, processTable } from './process-table.ts'

/** Which children of this process are somebody else's: those that it was handed when their parent died. */
export interface Adopted {
  /** False for a program that runs, and for everything while nobody can tell whose it would be. Asked for each child. */
  isOurs(row: ProcessRow): boolean
  /** False when nobody can tell any more; then the look ends. */
  isAlone(): boolean
}

/** Looks in a row that must find nothing. */
const calmLooks = 4
/** Milliseconds between them: not worth a timer, which would take longer. */
const calmMs = 1
/** How long processes may keep coming, in milliseconds. */
const comingMs = 2000
/** How long those may take to die that were told to, in milliseconds: a lot of memory is given back slowly. */
const dyingMs = 10_000
/** How long at a time a chain is hunted without letting anything else happen, in milliseconds. */
const burstMs = 10

/**
 * Ends what was handed to this process (it is a subreaper then, Linux), until nothing is there and nothing comes any
 * more. A process can have its child go on and leave a dead one here, over and over, faster than any look at all
 * processes: what is not looked at in between is not seen. But as long as one of them lives, the uppermost is a child
 * of this process, at every moment. Answers whether all is over.
 */
export async function endAdopted(adopted: Adopted): Promise<{ ended: boolean; killed: ProcessRow[] }> {
  const begun = performance.now()
  const killed = new Map<string, ProcessRow>()
  let cameLast = begun
  for (let calm = 0; calm < calmLooks; ) {
    if (!adopted.isAlone()) break
    const found = look(adopted, killed)
    const now = performance.now()
    if (found === 'none') {
      calm += 1
      if (calm < calmLooks) Bun.sleepSync(calmMs)
      continue
    }
    calm = 0
    if (found === 'new') cameLast = now
    if (now - begun > dyingMs || (now - begun > comingMs && now - cameLast < comingMs / 2)) {
      return { ended: false, killed: [...killed.values()] }
    }
    // What was told to die needs the processor; what comes anew must be met at once.
    if (found === 'dying') await Bun.sleep(1)
    else if (now - begun > burstMs) await Bun.sleep(0)
  }
  return { ended: true, killed: [...killed.values()] }
}

/** Ends what is there. `new` when something was not there before, takes no signal, or is dead and was not collected yet. */
function look(adopted: Adopted, killed: Map<string, ProcessRow>): 'none' | 'dying' | 'new' {
  let found: 'none' | 'dying' | 'new' = 'none'
  const session = getsid(0)
  for (const pid of ownChildren() ?? childrenByTable()) {
    // The quickest question first: this process's own helpers live in its session.
    if (getsid(pid) === session) continue
    const row = processRow(pid)
    if (!row || !adopted.isOurs(row)) continue
    if (row.zombie && reap(pid)) {
      found = 'new'
      continue
    }
    const key = `${pid} ${row.start}`
    // One that takes no signal (another user's) is not dying: it is as if it came anew each time.
    if (!killWithChildren(pid) || !killed.has(key)) found = 'new'
    else if (found === 'none') found = 'dying'
    killed.set(key, row)
  }
  return found
}

/** A process that was told to die makes no more children: those that it has by then are all. False when it cannot be told. */
function killWithChildren(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL')
    for (const child of childrenOf(pid)) killWithChildren(child)
    return true
  } catch (error) {
    // Or it has ended by itself.
    return (error as NodeJS.ErrnoException).code !== 'EPERM'
  }
}

function childrenByTable(): number[] {
  const rows = processTable().filter((row) => row.parent === process.pid)
  return rows.map((row) => row.pid)
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
  return text.split(' ').filter(Boolean).map(Number)
}
