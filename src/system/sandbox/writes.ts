import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { depth, isWithin } from './paths.ts'

/** What is asked of {@link judgeWrites}; all paths but `declared` absolute. */
export interface WriteQuestion {
  /** As a person or an adapter wrote them; a leading `~/` means the person's home. */
  declared: readonly string[]
  userHome: string
  worktree: string
  /** What lies in one of these stays as it is, but for the worktree. */
  brakes: readonly string[]
  /** No session may write a folder that holds one of these: it could be moved, and another put in its place. */
  kept: readonly string[]
  /** What is hidden is opened only by its own name, never by a link to it. */
  hidden: readonly string[]
  /** The folders that all programs share for temporary files. */
  temporary: readonly string[]
  /** The folders in which programs are looked for. */
  path: readonly string[]
  /** What sessions of other loops may write, as it was declared: links in there may be their work. */
  others: readonly string[]
  /** Where a path leads when all links on the way are followed, as far as it exists. */
  real: (path: string) => string
}

/** A folder that a harness declared and does not get. */
export interface RefusedWrite {
  /** As it was declared. */
  path: string
  /** Why, as a clause without a period. */
  why: string
}

/** What becomes of the folders that a harness declared. */
export interface JudgedWrites {
  /** Free of links, none in another one. */
  given: string[]
  refused: RefusedWrite[]
}

interface Write {
  path: string
  /** Absolute, by the name that it was given. */
  full: string
  /** Where that leads. */
  place: string
}

/**
 * Which of the declared folders a session gets. They are judged by where they lead: a link on the way may be the work
 * of another loop's session.
 */
export function judgeWrites(question: WriteQuestion): JudgedWrites {
  const { declared, userHome, worktree, real } = question
  const refused: RefusedWrite[] = []
  const writes: Write[] = []
  for (const path of declared) {
    const full = fullPath(path, userHome)
    const write = full === null ? null : { path, full, place: real(full) }
    const why = write === null ? tooMuch : reasonAgainst(write, question)
    if (why !== null) refused.push({ path, why })
    else if (write !== null && !writes.some((other) => other.place === write.place)) writes.push(write)
  }
  // What lies in another one is open already; as a rule of its own it would follow a link that a session put there.
  const isOpen = ({ full, place }: Write) =>
    [real(worktree), ...writes.map((other) => other.place).filter((other) => other !== place)].some(
      (folder) => upwards(full).some((above) => isWithin(real(above), folder)),
    )
  return { given: writes.filter((write) => !isOpen(write)).map((write) => write.place), refused }
}

/** Folders of PATH that lie in one that may be written; a session could leave programs there for others to start. */
export function programsIn(
  writes: readonly string[],
  { path, real }: Pick<WriteQuestion, 'path' | 'real'>,
): string[] {
  const places = new Set(path.map(real))
  return [...places].filter((place) => writes.some((write) => place !== write && isWithin(place, write)))
}

/** Folders of PATH whose name leads through a link that can be written: no mount keeps a link as it is. */
export function looseNames(
  writes: readonly string[],
  { path, real }: Pick<WriteQuestion, 'path' | 'real'>,
): string[] {
  return path.filter((named) => hasLinkIn(writes, named, real))
}

/** True when a link on the way lies in one of the folders, and so can be had lead elsewhere by who may write them. */
function hasLinkIn(folders: readonly string[], path: string, real: WriteQuestion['real']): boolean {
  return upwards(path).some((above) => {
    const holder = real(dirname(above))
    const isLink = real(above) !== join(holder, basename(above))
    return isLink && folders.some((folder) => isWithin(holder, folder))
  })
}

const tooMuch = 'it is protected, or holds too much'

function reasonAgainst(write: Write, question: WriteQuestion): string | null {
  const { kept, temporary, path, real } = question
  const { full, place } = write
  if (kept.some((one) => isWithin(one, full) || isWithin(real(one), place))) return tooMuch
  if (isBrake(full, question, (one) => one) || isBrake(place, question, real)) return tooMuch
  const others = question.others.flatMap((other) => fullPath(other, question.userHome) ?? [])
  if (
    hasLinkIn(
      others.map((other) => real(other)),
      full,
      real,
    )
  )
    return 'a link on the way lies where another loop’s sessions may write'
  if (leadsToHidden(write, question)) return 'a link in it leads to what sessions may not see'
  if (temporary.some((one) => isWithin(real(one), place)))
    return 'each session has a temporary folder of its own'
  return path.some((one) => real(one) === place) ? 'it is a folder of PATH, from which programs start' : null
}

function isBrake(path: string, question: WriteQuestion, spell: (path: string) => string): boolean {
  const brakes = question.brakes.map(spell)
  const worktree = spell(question.worktree)
  const holders = [worktree, ...brakes].filter((folder) => isWithin(path, folder))
  const closest = holders.sort((a, b) => depth(b) - depth(a))[0]
  return closest !== undefined && (closest !== worktree || brakes.includes(worktree))
}

function leadsToHidden({ full, place }: Write, { hidden, real }: WriteQuestion): boolean {
  const isNamed = hidden.some((secret) => isWithin(full, secret) || isWithin(full, real(secret)))
  return !isNamed && hidden.some((secret) => isWithin(place, real(secret)))
}

function fullPath(path: string, userHome: string): string | null {
  if (path.startsWith('~/')) return resolve(userHome, path.slice(2))
  return isAbsolute(path) ? resolve(path) : null
}

/** The path and all folders that hold it, but the root. */
function upwards(path: string): string[] {
  return dirname(path) === path ? [] : [path, ...upwards(dirname(path))]
}
