import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A git command as something ran it, with all that it needs to be run again. */
export interface RecordedCall {
  /** Its arguments without settings, for people. */
  shown: string
  argv: string[]
  cwd: string
  env: Record<string, string>
  stdin: Buffer
}

/**
 * Puts a `git` into a folder that writes down every call before it makes it, and answers with a function that reads what
 * was written. A private git folder is gone by then, so each call keeps a copy of it.
 */
export function recordGit(folder: string): () => RecordedCall[] {
  const real = Bun.which('git')
  if (!real) throw new Error('there is no git')
  const records = join(folder, 'calls')
  mkdirSync(records, { recursive: true })
  const script = `#!/bin/sh
at=$(mktemp -d '${records}'/$(date +%s%N)-XXXXXX) || exit 1
pwd >"$at/cwd"
env -0 >"$at/env"
printf '%s\\0' "$@" >"$at/argv"
cat >"$at/stdin"
case "$GIT_DIR" in */automaton-git-*) cp -r "$GIT_DIR" "$at/private" ;; esac
exec '${real}' "$@" <"$at/stdin"
`
  writeFileSync(join(folder, 'git'), script)
  chmodSync(join(folder, 'git'), 0o755)
  return () =>
    readdirSync(records)
      .sort()
      .map((name) => readCall(join(records, name), real))
}

function readCall(at: string, real: string): RecordedCall {
  const list = (name: string) => readFileSync(join(at, name), 'utf8').split('\0').slice(0, -1)
  const env = Object.fromEntries(
    list('env').map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  )
  const args = list('argv')
  const cwd = readFileSync(join(at, 'cwd'), 'utf8').trim()
  const kept = join(at, 'private')
  const move = (text: string) => (existsSync(kept) && env.GIT_DIR ? text.replaceAll(env.GIT_DIR, kept) : text)
  return {
    shown: args.filter((arg, i) => arg !== '-c' && args[i - 1] !== '-c' && arg !== '--no-pager').join(' '),
    argv: [real, ...args.map(move)],
    cwd: move(cwd),
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, move(value)])),
    stdin: readFileSync(join(at, 'stdin')),
  }
}
