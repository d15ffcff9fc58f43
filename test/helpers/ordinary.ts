import { chmodSync, copyFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { binary, callEnv } from './cli.ts'
import type { TestProject } from './project.ts'

const isRoot = process.getuid?.() === 0
const somebody = ['--reuid=65534', '--regid=65534', '--clear-groups']

/** What a call of an ordinary user did. */
export interface OrdinaryCall {
  code: number | null
  stdout: string
  stderr: string
}

/** Why tests about another user's files cannot run here; null when they can: only root makes files of two users. */
export function noTwoUsers(): string | null {
  if (process.platform !== 'linux') return 'no Linux'
  if (!isRoot) return 'not root'
  return Bun.which('setpriv') ? null : 'no setpriv'
}

/** Gives a project to an ordinary user, for whom rights count; returns how that user calls automaton. */
export function handOver(p: TestProject) {
  const base = dirname(p.root)
  // The checkout may be where only root can look.
  const own = join(base, 'automaton')
  const agent = join(base, 'agent')
  copyFileSync(binary, own)
  copyFileSync(join(import.meta.dir, '..', 'fixtures', 'bin', 'scripted-agent'), agent)
  for (const file of [own, agent]) chmodSync(file, 0o755)
  p.configure({ harness: { command: [agent, p.scenarioDir] } })
  Bun.spawnSync(['chown', '-R', '65534:65534', base])
  return async (...args: string[]): Promise<OrdinaryCall> => {
    const child = Bun.spawn(['setpriv', ...somebody, own, ...args], {
      cwd: p.root,
      env: callEnv({ cwd: p.root, home: p.home }),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { code: await child.exited, stdout, stderr }
  }
}
