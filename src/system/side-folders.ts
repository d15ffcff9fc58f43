import { join, posix } from 'node:path'
import { readNames } from './checkout.ts'
import { isDangerous, settingsOfFiles } from './dangerous-settings.ts'
import { sha256 } from './digest.ts'
import { changedKeys, fingerprint } from './fingerprint.ts'
import type { Repository } from './repository.ts'
import { isRealFolder } from './small-file.ts'

/** What steers git in other git folders of a repository, by folder and then by name. */
export type SideFolders = Record<string, Record<string, string>>

const deepest = 8
const steering = ['commondir', 'info/attributes', 'info/grafts', 'objects/info/alternates']
/** Git itself takes it out of a module while its files are not checked out, and puts it back. */
const place = 'core.worktree'

/**
 * Looks at the git folders that a person's git works with besides the repository's own: those of submodules and of
 * worktrees other than the given ones. Of their settings only those that can run or redirect something are hashed.
 * Throws `git_failed` when one of them is no configuration.
 */
export async function readSideFolders(repo: Repository, known: (string | null)[]): Promise<SideFolders> {
  const worktrees = readNames(join(repo.commonDir, 'worktrees')).map((name) => `worktrees/${name}`)
  const others = worktrees.filter((name) => !known.includes(join(repo.commonDir, name)))
  const modules = ['.', ...worktrees].flatMap((name) => modulesIn(repo, posix.join(name, 'modules'), deepest))
  const files = (name: string) =>
    modules.includes(name) ? ['config', 'config.worktree'] : ['config.worktree']
  const wanted = [...modules, ...others].flatMap((name) => files(name).map((file) => posix.join(name, file)))
  const settings = await settingsOfFiles(repo, wanted)
  const found: SideFolders = {}
  for (const name of [...modules, ...others]) {
    const isModule = modules.includes(name)
    const all = files(name).flatMap((file) => settings.get(posix.join(name, file)) ?? [])
    const isApart = (key: string) => key === 'core.sparsecheckout' || (isModule && key === place)
    const ours = all.filter(([key, value]) => isDangerous(key, value) && !isApart(key))
    const record: [string, string][] = [
      ...steeringIn(repo, name, isModule),
      [isModule ? 'config' : 'config.worktree', ours.length > 0 ? sha256(ours.flat().join('\0')) : ''],
      [place, (isModule && all.findLast(([key]) => key === place)?.[1]) || ''],
    ]
    found[name] = Object.fromEntries(record.filter(([, value]) => value !== ''))
  }
  return found
}

/** What changed in folders that were there at both looks: people add submodules and worktrees, and remove them. */
export function changedSideFolders(before: SideFolders, after: SideFolders): string[] {
  const found: string[] = []
  for (const [folder, was] of Object.entries(before)) {
    const is = after[folder]
    if (!is) continue
    const names = changedKeys(was, is).filter((name) => name !== place || (was[name] && is[name]))
    found.push(...names.map((name) => `${folder}/${name === place ? 'config' : name}`))
  }
  return found
}

function steeringIn(repo: Repository, folder: string, isModule: boolean): [string, string][] {
  const hooks = readNames(join(repo.commonDir, folder, 'hooks')).filter((name) => !name.endsWith('.sample'))
  const names = isModule ? [...steering, ...hooks.map((name) => `hooks/${name}`)] : ['commondir']
  return names.map((name) => [name, fingerprint(join(repo.commonDir, folder, name))])
}

/**
 * The git folders of submodules below a folder, whose names may have slashes, and of the submodules of these. A link in
 * a module's place is looked through, and not gone into.
 */
function modulesIn(repo: Repository, folder: string, left: number): string[] {
  if (left === 0) return []
  const at = (name: string) => join(repo.commonDir, name)
  const entries = readNames(at(folder)).map((name) => posix.join(folder, name))
  return entries.flatMap((entry) => {
    const isModule = readNames(at(entry)).includes('HEAD')
    const below = isModule ? posix.join(entry, 'modules') : entry
    return [
      ...(isModule ? [entry] : []),
      ...(isRealFolder(at(entry)) ? modulesIn(repo, below, left - 1) : []),
    ]
  })
}
