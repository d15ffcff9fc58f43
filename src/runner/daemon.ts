import { type Turn, turns } from '../machine/turns.ts'
import { wait } from '../system/wait.ts'
import type { Deps } from './deps.ts'
import { lookAtLoops, type Sight } from './sight.ts'
import { type TickProcess, tickInProcess } from './tick-process.ts'

/** Which loops, how many ticks at once, and who is told. */
export interface DaemonOptions {
  /** Empty: every loop that is not `manual`. */
  loops: readonly string[]
  parallel: number
  /** End when no loop can go on without a person, or without work that is yet to come. */
  untilIdle: boolean
  /** Told at each look, at least every 10 seconds: what there is, which loops tick, how many ticks ended. */
  onLook(loops: readonly Sight[], now: { ticking: readonly string[]; ticks: number }): void
  /** Told after each tick. */
  onTick(tick: TickProcess): void
}

/** Ticks loops when they are due, each tick its own process, until told to stop. Returns how many ticks it ran. */
export async function daemon(deps: Deps, options: DaemonOptions): Promise<{ ticks: number }> {
  const ticking = new Map<string, Turn & { done: Promise<void> }>()
  const started = new Map<string, number>()
  const idle = new Set<string>()
  let ticks = 0

  const start = (turn: Turn) => {
    started.set(turn.loop, deps.clock.seconds())
    const done = tickInProcess(turn.loop, deps).then((tick) => {
      ticking.delete(turn.loop)
      ticks += 1
      if (isIdle(tick)) idle.add(turn.loop)
      else idle.delete(turn.loop)
      options.onTick(tick)
    })
    ticking.set(turn.loop, { ...turn, done })
  }

  while (!deps.signal.aborted) {
    const sinceStart = (loop: string) =>
      deps.clock.seconds() - (started.get(loop) ?? Number.NEGATIVE_INFINITY)
    const loops = lookAtLoops({ deps, named: options.loops, sinceStart })
    options.onLook(loops, { ticking: [...ticking.keys()], ticks })
    const waiting = loops.flatMap(({ turn }) => (turn && !ticking.has(turn.loop) ? [turn] : []))
    if (options.untilIdle && ticking.size === 0 && waiting.every(({ loop }) => idle.has(loop))) break
    const next = turns({
      waiting,
      ticking: [...ticking.values()],
      parallel: options.parallel,
      now: deps.clock.now(),
    })
    for (const turn of next.start) start(turn)
    if (next.start.length > 0) continue
    const ended = [...ticking.values()].map(({ done }) => done)
    await Promise.race([...ended, wait(next.waitMs, deps.signal)])
  }
  await Promise.all([...ticking.values()].map(({ done }) => done))
  return { ticks }
}

/** There is nothing that the loop could do now: a person, or work that is yet to come, has to change that. */
function isIdle({ report }: TickProcess): boolean {
  return report?.outcome === 'no_work' || report?.outcome === 'refused'
}
