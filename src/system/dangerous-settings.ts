import { statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { sha256 } from './digest.ts'
import { gitBytes } from './git.ts'
import { splitNames } from './names.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'

const deepestInclude = 10

/**
 * The settings of a repository that can run a program or send data elsewhere, from its own configuration files and what
 * they include, each with a hash of its values (which may be secrets). Git parses the files, but under our configuration.
 * Throws when a file is no configuration.
 */
export async function dangerousSettings(
  repo: Repository,
  admin: string | null,
): Promise<Record<string, string>> {
  await using own = privateGit({ repo, persist: false })
  const found = new Map<string, string[]>()
  const seen = new Set<string>()
  const read = async (file: string, depth: number): Promise<void> => {
    if (seen.has(file) || depth > deepestInclude || !statSync(file, { throwIfNoEntry: false })?.isFile())
      return
    seen.add(file)
    const output = await gitBytes(own.place, ['config', '--file', file, '--no-includes', '--list', '-z'])
    for (const entry of splitNames(output).map((text) => Buffer.from(text, 'latin1').toString('utf8'))) {
      const at = entry.indexOf('\n')
      const [key, value] = at === -1 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)]
      // Named from the git folder, so that a repository that was moved has the same settings as before.
      const where = relative(repo.commonDir, file)
      if (isDangerous(key, value)) found.set(key, [...(found.get(key) ?? []), `${where}\0${value}`])
      // Conditions are not looked at: what may be included counts.
      if (/^include(if\..*)?\.path$/s.test(key) && !value.startsWith('~'))
        await read(resolve(dirname(file), value), depth + 1)
    }
  }
  const worktrees = [repo.commonDir, repo.gitDir, ...(admin ? [admin] : [])]
  for (const file of [
    join(repo.commonDir, 'config'),
    ...worktrees.map((dir) => join(dir, 'config.worktree')),
  ]) {
    await read(file, 0)
  }
  const hash = (values: string[]) => sha256(values.join('\0'))
  return Object.fromEntries([...found].map(([key, values]) => [key, hash(values)]))
}

/** Sections in which every setting counts. */
const sections = new Set([
  'alias',
  'browser',
  'credential',
  'difftool',
  'extensions',
  'filter',
  'gpg',
  'guitool',
  'hook',
  'http',
  'imap',
  'include',
  'includeif',
  'instaweb',
  'man',
  'mergetool',
  'pager',
  'protocol',
  'remote',
  'sendemail',
  'tar',
  'trailer',
  'url',
])

/** Settings that count in whatever section they are. */
const names = new Set([
  'args',
  'cmd',
  'command',
  'driver',
  'editor',
  'external',
  'helper',
  'ignore',
  'path',
  'process',
  'program',
  'proxy',
  'pushremote',
  'pushurl',
  'textconv',
  'update',
  'url',
  'vcs',
])

/** Single settings, by their whole name. */
const keys = new Set([
  'core.alternaterefscommand',
  'core.askpass',
  'core.attributesfile',
  'core.bare',
  'core.excludesfile',
  'core.filemode',
  'core.fsmonitor',
  'core.gitproxy',
  'core.hookspath',
  'core.ignorecase',
  'core.pager',
  'core.protecthfs',
  'core.protectntfs',
  'core.repositoryformatversion',
  'core.sparsecheckout',
  'core.sshcommand',
  'core.symlinks',
  'core.worktree',
  'init.templatedir',
  'interactive.difffilter',
  'receive.procreceiverefs',
  'remote.pushdefault',
  'submodule.recurse',
  'uploadpack.packobjectshook',
  'web.browser',
])

/** Whether a setting can run or redirect something. The key is as git prints it, with section and last part in lower case. */
export function isDangerous(key: string, value: string): boolean {
  const section = key.slice(0, key.indexOf('.'))
  const name = key.slice(key.lastIndexOf('.') + 1)
  if (keys.has(key) || sections.has(section) || names.has(name)) return true
  // `git push -u` and `git switch` write plain names here; an address would send the next push elsewhere.
  return section === 'branch' && name === 'remote' && /[:/\\]/.test(value)
}
