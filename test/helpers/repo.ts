import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Files by path; a value that starts with `#!` becomes executable. */
export type Files = Record<string, string>

/** Writes files below a folder. */
export function writeFiles(dir: string, files: Files): void {
  for (const [path, text] of Object.entries(files)) {
    const file = join(dir, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (text.startsWith('#!')) chmodSync(file, 0o755)
  }
}

/** Runs git as a person would, in the given folder; throws when it fails. Returns standard output, trimmed. */
export function git(dir: string, ...args: string[]): string {
  const run = spawnSync('git', args, {
    cwd: dir,
    encoding: 'utf8',
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      LANG: 'C.UTF-8',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: 'Pat Person',
      GIT_AUTHOR_EMAIL: 'pat@example.test',
      GIT_COMMITTER_NAME: 'Pat Person',
      GIT_COMMITTER_EMAIL: 'pat@example.test',
    },
  })
  if (run.status !== 0) throw new Error(`git ${args.join(' ')}: ${run.stderr}`)
  return run.stdout.trim()
}

/** Makes a repository on branch `main` with one commit of the given files. */
export function makeRepo(dir: string, files: Files = { 'README.md': '# test\n' }): string {
  mkdirSync(dir, { recursive: true })
  git(dir, 'init', '-q', '-b', 'main')
  writeFiles(dir, files)
  git(dir, 'add', '-A')
  git(dir, 'commit', '-q', '--allow-empty', '-m', 'first')
  return dir
}
