import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { daemon as run } from '../runner/daemon.ts'
import { existingLoop } from './held.ts'

/** One tick that the daemon ran. */
export interface DaemonTick {
  loop: string
  exit: number | null
  /** What the tick printed: progress, and last its report or its error as one JSON object. */
  output: string
}

/** Ticks the named loops (none: all that run) when they are due, until automaton is told to stop. */
export async function daemon(
  app: App,
  options: { loops: string[]; parallel: number },
  onTick: (tick: DaemonTick) => void,
): Promise<{ ticks: number }> {
  const project = app.project()
  for (const loop of options.loops) existingLoop(project, loop)
  if (options.parallel < 1) {
    throw errors.usage('bad value (--parallel)', 'it is no whole number from 1 up', 'automaton daemon --help')
  }
  return run(await app.deps(), {
    ...options,
    onTick: ({ loop, exitCode, output }) => onTick({ loop, exit: exitCode, output }),
  })
}
