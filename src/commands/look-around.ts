import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Host } from '../plugin/host.ts'
import { which } from '../system/process.ts'

/** A coding agent's program that was found. */
export interface FoundAgent {
  /** What `harness.use` calls it, or would. */
  name: string
  /** Absolute path of its program. */
  program: string
}

/** Agents that people have: the name that a plugin for it goes by, and its program. */
const known: readonly (readonly [name: string, program: string])[] = [
  ['opencode', 'opencode'],
  ['claude', 'claude'],
  ['codex', 'codex'],
  ['gemini', 'gemini'],
  ['qwen', 'qwen'],
  ['copilot', 'copilot'],
  ['cursor', 'cursor-agent'],
  ['aider', 'aider'],
  ['amp', 'amp'],
  ['goose', 'goose'],
]

/** The agents on PATH in the order of preference: those with a plugin, and those that only `harness.command` can run. */
export function findAgents(host: Host, path: string): { supported: FoundAgent[]; others: FoundAgent[] } {
  const found = known.flatMap(([name, program]) => {
    const file = which(program, path)
    return file ? [{ name, program: file }] : []
  })
  const hasPlugin = ({ name }: FoundAgent) => host.has('harness', name)
  return { supported: found.filter(hasPlugin), others: found.filter((agent) => !hasPlugin(agent)) }
}

/** What `harness.use` may name. The plugin `command` is there too, for `harness.command`. */
export function agentNames(host: Host): string[] {
  const names = host.list().flatMap(({ role, name }) => (role === 'harness' ? [name] : []))
  return [...new Set(names)].filter((name) => name !== 'command').sort()
}

/** The command that runs a project's tests, or null when nothing says. */
export function findTestCommand(root: string): string | null {
  const text = (name: string) => {
    const file = join(root, name)
    return existsSync(file) ? readFileSync(file, 'utf8') : null
  }
  const node = nodeTest(root, text('package.json'))
  if (node) return node
  if (text('Cargo.toml') !== null) return 'cargo test'
  if (text('go.mod') !== null) return 'go test ./...'
  if (text('pytest.ini') !== null || /pytest/.test(text('pyproject.toml') ?? '')) return 'pytest'
  if (text('pyproject.toml') !== null) return 'python -m unittest'
  if (/^test\s*:/m.test(text('Makefile') ?? '')) return 'make test'
  return null
}

/** What the source `ci` runs in a clean checkout: the project's tests, and before them what fetches its packages. */
export function findChecks(root: string): { prepare: string[][]; commands: string[][] } | null {
  const test = findTestCommand(root)
  if (test === null) return null
  const lock = /^(?:npm|pnpm|yarn|bun) /.test(test)
    ? locks.find(([name]) => existsSync(join(root, name)))
    : undefined
  return { prepare: lock ? [lock[1]] : [], commands: [test.split(' ')] }
}

const locks: readonly (readonly [file: string, install: string[]])[] = [
  ['bun.lock', ['bun', 'install', '--frozen-lockfile']],
  ['bun.lockb', ['bun', 'install', '--frozen-lockfile']],
  ['pnpm-lock.yaml', ['pnpm', 'install', '--frozen-lockfile']],
  ['yarn.lock', ['yarn', 'install', '--frozen-lockfile']],
  // The sandbox keeps npm from the cache in the person's home.
  ['package-lock.json', ['npm', 'ci', '--cache', '.npm-cache']],
]

function nodeTest(root: string, text: string | null): string | null {
  if (text === null || !hasTestScript(text)) return null
  const has = (name: string) => existsSync(join(root, name))
  if (has('bun.lock') || has('bun.lockb')) return 'bun run test'
  if (has('pnpm-lock.yaml')) return 'pnpm test'
  return has('yarn.lock') ? 'yarn test' : 'npm test'
}

function hasTestScript(text: string): boolean {
  try {
    const script: unknown = JSON.parse(text)?.scripts?.test
    // What `npm init` writes is no test.
    return typeof script === 'string' && !script.includes('no test specified')
  } catch {
    return false
  }
}
