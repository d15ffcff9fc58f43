import { binary, callEnv } from './cli.ts'
import type { TestProject } from './project.ts'

/** Starts the daemon; `stop` ends it with SIGTERM and gives its exit code. */
export function startDaemon(p: TestProject, ...args: string[]) {
  const child = Bun.spawn([binary, 'daemon', ...args], {
    cwd: p.root,
    env: callEnv({ cwd: p.root, home: p.home }),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const told: string[] = []
  const reading = (async () => {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of child.stderr) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      told.push(...lines)
    }
  })()
  return {
    /** The lines that it told so far. */
    told,
    /** Its standard output, once it has ended. */
    answer: () => new Response(child.stdout).text(),
    ended: Promise.all([child.exited, reading]).then(() => child.exitCode),
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal)
      await Promise.all([child.exited, reading])
      return child.exitCode
    },
  }
}

/** Waits for something that no event tells of. */
export async function until(condition: () => boolean, seconds = 40): Promise<void> {
  const limit = Date.now() + seconds * 1000
  while (!condition()) {
    if (Date.now() > limit) throw new Error('it did not happen in time')
    await Bun.sleep(25)
  }
}
