import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { exec } from '../system/exec.ts'
import { betterSlug, brokenSlug, rightSlug } from './demo-files.ts'

/** What the session's environment and folder are. */
export interface DemoSession {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  /** The rendered prompt. */
  promptFile: string
}

/**
 * The agent of `automaton demo`: no model, but real edits, real tests and real operations, so that a tick can be seen
 * without a network. Returns what an agent's final message would be.
 */
export async function demoAgent(session: DemoSession): Promise<string> {
  switch (session.env.AUTOMATON_ROLE) {
    case 'implement':
      return implement(session)
    case 'verify':
      return verify(session)
    default:
      return orchestrate(session)
  }
}

/** The first try fixes half of the bug, the second all of it; each review says what the next phase needs to hear. */
function implement({ env, cwd }: DemoSession): string {
  const phase = env.AUTOMATON_PHASE ?? ''
  const file = join(cwd, 'bin', 'slug')
  if (env.AUTOMATON_IN_TICK === 'tidy') return tidy(env, cwd)
  switch (phase) {
    case 'implement': {
      const first = readFileSync(file, 'utf8') === brokenSlug
      writeFileSync(file, first ? betterSlug : rightSlug)
      return first
        ? 'The title is split at its spaces now, however many there are.'
        : 'It is split at punctuation, too.'
    }
    case 'code_review':
      return 'Read bin/slug and ran test/run.sh: short, and every case is covered.\n\nVerdict: PASS'
    case 'bug_hunt':
      return 'Tried empty, blank and non-ASCII titles; none is taken for a pattern.\n\nVerdict: CLEAN'
    case 'adversarial_review':
      return 'Argued for a length limit on slugs; nobody asked for one, so it stays a note.'
    default:
      return 'The brief is met, the tests pass, the notes need no work.\n\nVerdict: APPROVED'
  }
}

/** The second loop may only touch bin/. Its agent oversteps once, the way real ones do, and then keeps to it. */
function tidy(env: DemoSession['env'], cwd: string): string {
  const memory = join(env.HOME ?? cwd, 'agent', 'overstepped')
  const file = join(cwd, 'bin', 'slug')
  writeFileSync(file, readFileSync(file, 'utf8').replace('# Turns', '# slug TITLE: turns'))
  if (existsSync(memory)) return 'Said in bin/slug how it is called.'
  writeFileSync(memory, '')
  writeFileSync(join(cwd, 'README.md'), '# slug, the best tool ever\n')
  return 'Said in bin/slug how it is called, and made the README nicer while at it.'
}

async function verify({ env, cwd }: DemoSession): Promise<string> {
  // The second loop's branch starts from main, where the tests still fail: its task is another one.
  if (env.AUTOMATON_IN_TICK === 'tidy') {
    const pass = readFileSync(join(cwd, 'bin', 'slug'), 'utf8').includes('slug TITLE')
    return verdict(pass, `bin/slug ${pass ? 'says' : 'does not say'} how it is called`)
  }
  const run = await exec({ argv: ['sh', 'test/run.sh'], cwd, env: defined(env) })
  return verdict(run.exitCode === 0, run.stdout.trim().split('\n').at(-1) ?? '')
}

function verdict(pass: boolean, reason: string): string {
  return JSON.stringify({ pass, score: pass ? 1 : 0.25, reasons: [reason], next_hint: pass ? '' : reason })
}

const forward: Record<string, string> = {
  implement: 'code_review',
  code_review: 'bug_hunt',
  bug_hunt: 'adversarial_review',
  adversarial_review: 'referee',
  referee: 'complete',
}

async function orchestrate({ env, cwd, promptFile }: DemoSession): Promise<string> {
  const to = forward[env.AUTOMATON_PHASE ?? '']
  const pass = /"pass": true/.test(readFileSync(promptFile, 'utf8'))
  const move = ['transition', env.AUTOMATON_TASK ?? '', to ?? '', '--reason', 'the verdict passed']
  const argv = ['automaton', ...(pass && to ? move : ['hold'])]
  const run = await exec({ argv, cwd, env: defined(env) })
  return run.exitCode === 0 ? `Called ${argv.slice(0, 2).join(' ')}.` : run.stderr
}

function defined(env: DemoSession['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
