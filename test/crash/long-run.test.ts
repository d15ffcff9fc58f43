import { expect } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { cheapLoop, start, until } from './loops.ts'
import { needs } from './needs.ts'

const ticks = process.env.TEST_FULL ? 500 : 60

needs()(
  `a daemon that ran ${ticks} ticks holds as much memory, as many files and as few children as before`,
  async () => {
    using loop = await cheapLoop('lone-agent', {
      git: false,
      createArgs: ['--no-worktree'],
      loop: { schedule: { kind: 'daemon', interval_seconds: 0.02 } },
    })
    const { p } = loop
    const daemon = start(p, 'daemon', p.loop)
    const drained = [new Response(daemon.stdout).text(), new Response(daemon.stderr).text()]
    await until(() => p.state().iteration_count >= 10, 'the first ten ticks', 120)
    const early = look(daemon.pid)
    await until(() => p.state().iteration_count >= ticks, 'all ticks', 1200)
    const late = look(daemon.pid)
    daemon.kill('SIGTERM')
    await Promise.all([daemon.exited, ...drained])
    expect(daemon.exitCode).toBe(143)
    expect(late.files - early.files).toBeLessThanOrEqual(8)
    // The tick that ended at this very moment may not be collected yet; a leak would be one for each tick.
    expect(late.zombies).toBeLessThanOrEqual(1)
    expect(late.children).toBeLessThanOrEqual(1)
    // A collector that has not run yet may hold some MiB; a leak of one tick's output would hold more.
    expect(late.memory - early.memory).toBeLessThan(48)
  },
  1_500_000,
)

/** What a process holds: MiB, open files, and its children. */
function look(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => stat(name))
    .filter((row) => row.parent === pid)
  return {
    memory: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
    children: children.filter((row) => row.state !== 'Z').length,
    zombies: children.filter((row) => row.state === 'Z').length,
  }
}

function stat(pid: string): { state: string; parent: number }[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const [state = '', parent = '0'] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return [{ state, parent: Number(parent) }]
  } catch {
    return []
  }
}
