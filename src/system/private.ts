import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GitPlace } from './git.ts'
import { gitSetting } from './git-config.ts'
import type { Repository } from './repository.ts'

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
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'automaton-git-')))
  for (const folder of ['objects', 'refs', 'info', 'empty']) mkdirSync(join(dir, folder), { mode: 0o700 })
  writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/none\n')
  writeFileSync(join(dir, 'config'), configText(join(repo.commonDir, 'config')))
  writeFileSync(join(dir, 'info', 'exclude'), [...exclude, ''].join('\n'))
  // Where a shallow clone's history ends; without it the parents would be missing objects.
  const shallow = join(repo.commonDir, 'shallow')
  if (existsSync(shallow)) copyFileSync(shallow, join(dir, 'shallow'))
  const store = join(repo.commonDir, 'objects')
  const base = { gitDir: dir, workTree: workTree ?? join(dir, 'empty'), index: join(dir, 'index') }
  return {
    dir,
    place: persist
      ? { ...base, objects: store }
      : { ...base, objects: join(dir, 'objects'), alternates: [store], temporary: true },
    async [Symbol.asyncDispose]() {
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

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
