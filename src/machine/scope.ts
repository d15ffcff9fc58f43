import { compileGlob, type Glob, type MayCover, matchGlob } from './glob.ts'
import { isGitFolder, isProtectedName } from './protected.ts'

/** One path that differs between two trees; modes are git's six digits, `000000` where the path is absent. */
export interface Change {
  /** Relative to the repository, `/` between folders. */
  path: string
  oldMode: string
  newMode: string
  /** Where a symbolic link points; null for anything else. */
  linkTarget: string | null
}

/** Whether the path is in the protected set of the contract (section 8), at any depth. */
export function isProtected(path: string): boolean {
  return namesOf(path).some(isProtectedName)
}

/**
 * Whether the path may be changed under a loop's `file_scope`. Patterns are POSIX globs (`*`, `?`, `[…]` and `**` for
 * any number of folders; a leading dot is nothing special) or folder prefixes; none at all means everything. A protected
 * name is only covered by a pattern that names it literally.
 */
export function inScope(path: string, patterns: readonly string[]): boolean {
  return isCovered(path, compile(patterns))
}

/** Whether a pattern matches the path; protected names are names like others here. */
export function matchesGlob(path: string, patterns: readonly string[]): boolean {
  const names = path.split('/')
  return (compile(patterns) ?? []).some((glob) => matchGlob(glob, names, () => true))
}

/** The changed paths, relative to the repository, that lie outside the scope: sorted, each once. */
export function outOfScope(
  changes: readonly Change[],
  scope: {
    fileScope: readonly string[]
    /** The project's folder in the repository: empty, or such as `packages/app/`. */
    prefix: string
  },
): string[] {
  const globs = compile(scope.fileScope)
  const bad = changes.filter(
    (change) => isStructural(change) || !isPathCovered(change.path, globs, scope.prefix),
  )
  return [...new Set(bad.map((change) => change.path))].sort()
}

function isPathCovered(path: string, globs: readonly Glob[] | null, prefix: string): boolean {
  if (path.startsWith(prefix)) return isCovered(path.slice(prefix.length), globs)
  // Patterns speak of the project; only the empty list speaks of the whole worktree.
  return globs === null && isCovered(path, null)
}

/** What is wrong wherever it lies: submodules, and links that lead out of the worktree or into git's own folder. */
function isStructural({ path, oldMode, newMode, linkTarget }: Change): boolean {
  if (oldMode === gitlink || newMode === gitlink) return true
  return newMode === symlink && (linkTarget === null || isEscape(path, linkTarget))
}

const gitlink = '160000'
const symlink = '120000'

/**
 * A path that climbs after it went down is refused without a look: the folder may itself be a link, and then `..` is
 * somewhere else.
 */
function isEscape(path: string, target: string): boolean {
  const normal = target.replaceAll('\\', '/')
  if (normal === '' || normal.startsWith('/') || /^[a-z]:/i.test(normal)) return true
  const steps = normal.split('/').filter((step) => step !== '' && step !== '.')
  const down = steps.findIndex((step) => step !== '..')
  const climbs = down === -1 ? steps.length : down
  const rest = steps.slice(climbs)
  const depth = path.split('/').length - 1
  return climbs > depth || rest.includes('..') || rest.some(isGitFolder)
}

/** Null: everything. */
function compile(patterns: readonly string[]): Glob[] | null {
  if (patterns.length === 0) return null
  return patterns.map(compileGlob).filter((glob) => glob !== null)
}

function isCovered(path: string, globs: readonly Glob[] | null): boolean {
  const names = path.split('/')
  if (names.some(isImpossible)) return false
  if (globs === null) return !names.some(isProtectedName)
  return globs.some((glob) => matchGlob(glob, names, mayCover))
}

/** Names that no honest checkout holds, and git's own folder under any of its spellings. */
function isImpossible(name: string): boolean {
  return name === '' || name === '.' || name === '..' || isGitFolder(name)
}

/** `.github/` and `.env*` name what they lift; `*`, `**` and `src/` do not. */
const mayCover: MayCover = (name, part) => {
  if (!isProtectedName(name)) return true
  return part !== null && (part.isLiteral || isProtectedName(part.literal))
}

function namesOf(path: string): string[] {
  return path.split(/[\\/]/)
}
