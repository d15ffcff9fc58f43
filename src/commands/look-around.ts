import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { which } from '../system/process.ts'

/** A coding agent's program that was found. */
export interface FoundHarness {
  /** What `harness.use` calls it. */
  name: string
  /** Absolute path of its program. */
  program: string
}

/** The agents that automaton drives: the plugin's name and its program. */
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

/** The agents' programs on PATH, in the order of preference. */
export function findHarnesses(path: string): FoundHarness[] {
  return known.flatMap(([name, program]) => {
    const found = which(program, path)
    return found ? [{ name, program: found }] : []
  })
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
