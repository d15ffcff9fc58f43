import { closeSync, constants, lstatSync, mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GitPlace } from './git.ts'
import { gitSetting } from './git-config.ts'
import { flock } from './native.ts'
import { isWindows } from './platform.ts'
import { removeTree } from './remove.ts'
import type { Repository } from './repository.ts'
import { copyRegular } from './small-file.ts'
import { temporaryFolder } from './temporary.ts'
import { openSole } from './windows/sole.ts'

/** A git folder of our own in a temporary folder; it goes with its scope. */
export interface PrivateGit extends AsyncDisposable {
  dir: string
  place: GitPlace & { index: string }
}

/** How a {@link privateGit} is used. */
export interface PrivateOptions {
  repo: Repository
  /** The files that it looks at; without one an empty folder, so that no attribute file takes part. */
  workTree?: string
  /** True: objects go to the repository's store and stay. False: they go with the private folder. */
  persist: boolean
  /** Patterns of files that are not looked at, as in `info/exclude`. */
  exclude?: string[]
}

/**
 * Makes a git folder whose configuration, hooks, attributes and excludes are ours alone, with the repository's objects
 * to read. Whatever would run a program that the repository's configuration names works through one of these.
 */
export function privateGit({ repo, workTree, persist, exclude = [] }: PrivateOptions): PrivateGit {
  const dir = temporaryFolder(prefix)
  const release = hold(dir)
  const folders = ['objects', 'refs', 'info', ...(workTree ? [] : ['empty'])]
  for (const folder of folders) mkdirSync(join(dir, folder), { mode: 0o700 })
  writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/none\n')
  writeFileSync(join(dir, 'config'), configText(join(repo.commonDir, 'config')))
  writeFileSync(join(dir, 'info', 'exclude'), [...exclude, ''].join('\n'))
  // Where a shallow clone's history ends; without it the parents would be missing objects.
  copyRegular(join(repo.commonDir, 'shallow'), join(dir, 'shallow'))
  const store = join(repo.commonDir, 'objects')
  const base = { gitDir: dir, workTree: workTree ?? join(dir, 'empty'), index: join(dir, 'index') }
  return {
    dir,
    place: persist
      ? { ...base, objects: store }
      : { ...base, objects: join(dir, 'objects'), alternates: [store], temporary: true },
    async [Symbol.asyncDispose]() {
      removeHeld(dir, release)
    },
  }
}

/** Removes the private git folders of processes that were killed. One that is in use is locked, or was made just now. */
export function sweepPrivateGits(): void {
  for (const name of readdirSync(tmpdir())) {
    const dir = join(tmpdir(), name)
    const stat = name.startsWith(prefix) ? lstatSync(dir, { throwIfNoEntry: false }) : null
    if (!stat?.isDirectory() || !isOwn(stat) || Date.now() - stat.mtimeMs < freshMs) continue
    const release = hold(dir)
    if (!release) continue
    removeHeld(dir, release)
  }
}

const prefix = 'automaton-git-'
/** How long after its making a folder is left alone, so that its maker gets to lock it. */
const freshMs = 60_000

function configText(shared: string): string {
  const isOn = (key: string) => gitSetting(shared, 'core', key) !== 'false'
  const windows = process.platform === 'win32'
  const sha256 = gitSetting(shared, 'extensions', 'objectFormat') === 'sha256'
  return [
    '[core]',
    `repositoryFormatVersion = ${sha256 ? 1 : 0}`,
    'bare = false',
    `fileMode = ${!windows && isOn('fileMode')}`,
    `symlinks = ${!windows || isOn('symlinks')}`,
    'ignoreCase = false',
    'autoCrlf = false',
    `precomposeUnicode = ${process.platform === 'darwin'}`,
    'logAllRefUpdates = false',
    ...(sha256 ? ['[extensions]', 'objectFormat = sha256'] : []),
    '',
  ].join('\n')
}

/** On Windows the temporary folder is each user's own. */
function isOwn(stat: { uid: number }): boolean {
  return isWindows || stat.uid === process.getuid?.()
}

/** Removes a folder of ours, as nobody else's sweep must see it unlocked; Windows removes no file that is open. */
export function removeHeld(dir: string, release: (() => void) | null): void {
  if (isWindows) release?.()
  removeTree(dir)
  if (!isWindows) release?.()
}

/** Locks a folder until the returned function is called or the process ends; null when somebody else has locked it. */
export function hold(dir: string): (() => void) | null {
  if (isWindows) {
    const file = openSole(join(dir, 'held'))
    return file && (() => file.close())
  }
  const fd = openSync(dir, constants.O_RDONLY | constants.O_DIRECTORY)
  if (flock(fd, true, true)) return () => closeSync(fd)
  closeSync(fd)
  return null
}
