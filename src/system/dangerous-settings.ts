import { statSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { randomHex, sha256 } from './digest.ts'
import { gitBytes } from './git.ts'
import { splitNames } from './names.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'
import { readSmall } from './small-file.ts'

const deepestInclude = 10

/**
 * The settings of a repository that can run a program, send data elsewhere or destroy history, from its own configuration files and what
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
    for (const [key, value] of pairsIn(output)) {
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

/**
 * All settings of configuration files below the git folder, by the file's name, as git reads them; what they include is
 * not followed. One git for all of them: there can be many submodules. Throws when one is no configuration.
 */
export async function settingsOfFiles(
  repo: Repository,
  names: string[],
): Promise<Map<string, [key: string, value: string][]>> {
  const read = names.map((name) => ({ name, text: readSmall(join(repo.commonDir, name)) }))
  const files = read.filter(({ text }) => text !== null)
  const found = new Map(files.map(({ name }) => [name, [] as [string, string][]]))
  if (files.length === 0) return found
  await using own = privateGit({ repo, persist: false })
  const marker = `from-${randomHex(16)}`
  const all = join(own.dir, 'settings')
  // The empty line ends a value that would go on behind the file's end.
  const texts = files.map(({ text }, i) => `[${marker}]\nat = ${i}\n${text?.replace(/^\uFEFF/, '')}\n\n`)
  writeFileSync(all, texts.join(''))
  let name = ''
  for (const pair of pairsIn(
    await gitBytes(own.place, ['config', '--file', all, '--no-includes', '--list', '-z']),
  )) {
    if (pair[0] === `${marker}.at`) name = files[Number(pair[1])]?.name ?? ''
    else found.get(name)?.push(pair)
  }
  return found
}

function pairsIn(output: Buffer): [key: string, value: string][] {
  return splitNames(output).map((text) => {
    const entry = Buffer.from(text, 'latin1').toString('utf8')
    const at = entry.indexOf('\n')
    return at === -1 ? [entry, ''] : [entry.slice(0, at), entry.slice(at + 1)]
  })
}

/** Sections in which every setting counts. */
const sections = new Set([
  'alias',
  'browser',
  'credential',
  'difftool',
  'extensions',
  'filter',
  // When old objects and logs are destroyed.
  'gc',
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
  'receive',
  'remote',
  'sendemail',
  'tar',
  'trailer',
  'url',
])

/** Settings that count in whatever section they are. */
const names = new Set([
  'args',
  'clean',
  'cmd',
  'command',
  'driver',
  'editor',
  'external',
  'helper',
  'hook',
  'hooks',
  'ignore',
  'path',
  'process',
  'program',
  'proxy',
  'pushremote',
  'pushurl',
  'smudge',
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
  'core.logallrefupdates',
  'core.pager',
  'core.protecthfs',
  'core.protectntfs',
  'core.repositoryformatversion',
  'core.sparsecheckout',
  'core.sshcommand',
  'core.symlinks',
  'core.worktree',
  'fetch.prune',
  'fetch.prunetags',
  'init.templatedir',
  'interactive.difffilter',
  'lfs.standalonetransferagent',
  'lfs.storage',
  'remote.pushdefault',
  'submodule.recurse',
  'uploadpack.packobjectshook',
  'web.browser',
])

/** Whether a setting can run, redirect or destroy something. The key is as git prints it, with section and last part in lower case. */
export function isDangerous(key: string, value: string): boolean {
  const section = key.slice(0, key.indexOf('.'))
  const name = key.slice(key.lastIndexOf('.') + 1)
  if (keys.has(key) || sections.has(section) || names.has(name)) return true
  // `git push -u` and `git switch` write plain names here; an address would send the next push elsewhere.
  return section === 'branch' && name === 'remote' && /[:/\\]/.test(value)
}
