/** What can happen at a system call. `crash`: the process and the tick above it die together. */
export type FaultKind = 'crash' | 'kill' | (typeof errorKinds)[number]
const errorKinds = ['EIO', 'ENOSPC', 'EROFS'] as const

/** One fault at one place. */
export interface Point {
  /** 0: the tick's own process; else the number of the git program that it starts. */
  process: number
  /** The system call's name, and which of its calls in that process, from 1. */
  call: string
  n: number
  kind: FaultKind
  /** The call as it was when it was listed. */
  shown: string
}

/** The system calls that are made to fail. */
export const calls =
  'openat write pwrite64 ftruncate copy_file_range rename renameat2 link linkat symlink fsync fdatasync close unlink unlinkat rmdir mkdir'.split(
    ' ',
  )

/** A point in one line. */
export function nameOf({ process, call, n, kind, shown }: Point): string {
  return `${kind} at ${call} ${n} of ${process === 0 ? 'the tick' : `git ${process}`}: ${shown.slice(0, 200)}`
}

/** Whether such a fault is one that happens at this call, shown with the paths of its descriptors. */
export function canHappen({ kind, call }: Pick<Point, 'kind' | 'call'>, line: string): boolean {
  if (kind === 'crash' || kind === 'kill') return true
  // What only reads never runs out of space.
  return canFail(line) && (kind === 'EIO' || changes(call, line))
}

/**
 * Whether there are errors at this call. Only files fail so: a pipe has no disk; and since the tracer skips a call that
 * it lets fail, a pipe whose `close` fails would stay open, and its reader would wait for ever, which no system does.
 * What the system tells of itself in /proc does not fail either.
 */
function canFail(line: string): boolean {
  return !/^\w+\(\d+<(?!\/)/.test(line) && !/["<]\/(?:proc|sys)\//.test(line)
}

/** A traced process: its trace, its number (0: the tick), and the folder that the test is in. */
export interface Traced {
  trace: string
  process: number
  folder: string
}

/**
 * The points of one traced process, without those that are the same as another: a kill is the same at every call until
 * something has happened again; a call that only reads cannot run out of space, nor can it fail to be closed; and of
 * calls that are alike ({@link likeness}) the first few stand for all.
 */
export function pointsIn({ trace, process, folder }: Traced): Point[] {
  const counts = new Map<string, number>()
  const likes = new Map<string, number>()
  const written = new Set<string>()
  const points: Point[] = []
  let happened = true
  for (const line of trace.split('\n')) {
    const call = /^(\w+)\(/.exec(line)?.[1]
    if (!call) continue
    if (!calls.includes(call)) {
      happened = true
      continue
    }
    const n = (counts.get(call) ?? 0) + 1
    counts.set(call, n)
    const changing = changes(call, line)
    const file = /= \d+<([^>]*)>$/.exec(line)?.[1]
    if (changing && file) written.add(file)
    const like =
      process > 0 && call === 'openat' && !changing ? 'reads' : likeness({ call, line, process, folder })
    const seen = likes.get(like) ?? 0
    likes.set(like, seen + 1)
    const isNews = like === '' || seen < alike
    const base = { process, call, n, shown: line }
    if (isNews && happened) points.push({ ...base, kind: process === 0 ? 'kill' : 'crash' })
    if (isNews && process > 0 && changing) points.push({ ...base, kind: 'kill' })
    const isIdle = call === 'close' && !written.has(/<([^>]*)>/.exec(line)?.[1] ?? '')
    if (isNews && !isIdle) {
      const kinds = errorKinds.filter((kind) => canHappen({ kind, call }, line))
      points.push(...kinds.map((kind) => ({ ...base, kind })))
    }
    happened = changing
  }
  return points
}

/** How many of those that are alike are taken. */
const alike = 5

/**
 * A name for the calls that are alike; empty for one of its own. One entry of /proc is like the next, and so is one
 * throwaway git folder of automaton's; what a git reads is one question: does that git do its work.
 */
function likeness(o: { call: string; line: string; process: number; folder: string }): string {
  // The folder that a relative path starts from says nothing of a file with an absolute one.
  const files = o.line.replace(/AT_FDCWD<[^>]*>, "\//, '"/')
  if (/["<]\/(?:proc|sys)\//.test(files)) return `${o.call} /proc`
  const scratch = /\/automaton-git-\w+([^">]*)/.exec(files)?.[1]
  if (scratch !== undefined) return `${o.call} scratch ${scratch}`
  return o.process > 0 && !files.includes(o.folder) ? `${o.call} elsewhere` : ''
}

/** What a call can do to the disk; what only reads cannot run out of space. */
function changes(call: string, line: string): boolean {
  if (call === 'close') return false
  return call !== 'openat' || (/O_CREAT|O_TRUNC|O_WRONLY|O_RDWR/.test(line) && !line.includes('"/dev/null"'))
}
