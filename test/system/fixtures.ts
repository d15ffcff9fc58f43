import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findRepository, type Repository } from '../../src/system/repository.ts'
import { ensureWorktree } from '../../src/system/worktree.ts'
import { type Files, git, makeRepo } from '../helpers/repo.ts'

/** The branch of {@link makeLoop}. */
export const branch = 'automaton/nightly'

/** A repository with a loop's worktree. */
export interface LoopFixture {
  root: string
  repo: Repository
  worktree: string
  /** The commit that the worktree was made from. */
  base: string
}

/** The repository of a folder that has one. */
export function repositoryOf(root: string): Repository {
  const repo = findRepository(root)
  if (!repo) throw new Error(`${root} has no repository`)
  return repo
}

/** Makes a repository and a loop's worktree in its place. */
export async function makeLoop(root: string, files?: Files): Promise<LoopFixture> {
  return addLoop(makeRepo(root, files))
}

/** Makes a loop's worktree in a repository that is there. */
export async function addLoop(root: string): Promise<LoopFixture> {
  const repo = repositoryOf(root)
  const base = git(root, 'rev-parse', 'HEAD')
  const worktree = join(root, '.automaton/loops/nightly/worktree')
  await ensureWorktree({ repo, path: worktree, branch, base })
  return { root, repo, worktree, base }
}

/** Every hook that git knows; a session could leave any of them. */
const hooks = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-receive',
  'post-rewrite',
  'post-update',
  'pre-applypatch',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'pre-receive',
  'prepare-commit-msg',
  'proc-receive',
  'push-to-checkout',
  'reference-transaction',
  'update',
]

/** Attributes that name every kind of driver; commit them before {@link plant}. */
export const hostileAttributes = '* filter=evil diff=evil merge=evil\n'

/** A program that leaves a mark when anybody runs it, and the marks it has left. */
export interface Canary {
  command: string
  /** What ran it, one line each; empty as long as nobody did. */
  marks(): string
}

/** Makes a canary in a folder outside the repository. */
export function makeCanary(dir: string): Canary {
  mkdirSync(dir, { recursive: true })
  const log = join(dir, 'marks')
  const command = join(dir, 'canary')
  writeFileSync(command, `#!/bin/sh\necho "$0 $*" >> '${log}'\nexit 1\n`)
  chmodSync(command, 0o755)
  return { command, marks: () => (existsSync(log) ? readFileSync(log, 'utf8') : '') }
}

/** Puts a canary wherever a repository's configuration or hooks can name a program. No git of a person may run after it. */
export function plant(repo: string, canary: Canary): void {
  const run = canary.command
  const gitDir = git(repo, 'rev-parse', '--absolute-git-dir')
  const settings: [string, string][] = [
    ['core.fsmonitor', run],
    ['core.pager', run],
    ['core.editor', run],
    ['core.sshCommand', run],
    ['core.askPass', run],
    ['core.alternateRefsCommand', run],
    ['core.hooksPath', join(gitDir, 'hooks')],
    ['filter.evil.clean', run],
    ['filter.evil.smudge', run],
    ['filter.evil.process', run],
    ['filter.evil.required', 'true'],
    ['diff.external', run],
    ['diff.evil.textconv', run],
    ['diff.evil.command', run],
    ['merge.evil.driver', run],
    ['gpg.program', run],
    ['commit.gpgSign', 'true'],
    ['credential.helper', `!${run}`],
    ['alias.add', `!${run}`],
    ['alias.evil', `!${run}`],
    ['pager.diff', run],
    ['interactive.diffFilter', run],
    ['uploadpack.packObjectsHook', run],
    ['protocol.ext.allow', 'always'],
    ['remote.evil.url', `ext::sh -c ${run}`],
    ['remote.evil.promisor', 'true'],
    ['extensions.partialClone', 'evil'],
  ]
  for (const [key, value] of settings) git(repo, 'config', key, value)
  mkdirSync(join(gitDir, 'hooks'), { recursive: true })
  for (const hook of hooks) {
    const file = join(gitDir, 'hooks', hook)
    writeFileSync(file, `#!/bin/sh\nexec '${run}' hook-${hook}\n`)
    chmodSync(file, 0o755)
  }
}
