// Ticks that are killed at a random moment, over and over: bun test/crash/soak.ts [kills]. `TEST_SEED` repeats a run.
import { availableParallelism } from 'node:os'
import { checkAfterFault, checkWhole } from '../helpers/invariants.ts'
import { type Lab, makeLab } from './lab.ts'
import { chance, seed } from './seed.ts'

/** What a soak came to. */
export interface Soaked {
  kills: number
  /** Ticks that ended before their kill came. */
  late: number
  problems: string[]
}

/** After so many kills one tick is left alone, and everything must be whole. */
const between = 8

/** How many kills one loop takes when there are many. */
const inOneLoop = 250

/** Kills `kills` ticks of one loop, each at a moment of chance, with SIGKILL and nothing else. */
export async function soak({ kills, from }: { kills: number; from: string }): Promise<Soaked> {
  const random = chance(from)
  using lab = await makeLab(1)
  const problems: string[] = []
  let late = 0
  let longest = await undisturbed(lab, problems)
  for (let n = 1; n <= kills && problems.length < 5; n++) {
    const after = random() * longest
    if (await killedTick(lab, after)) late += 1
    const found = checkAfterFault(lab.scene, lab.before)
    problems.push(...found.map((what) => `kill ${n} after ${after.toFixed(1)} ms: ${what}`))
    if (n % between === 0 || n === kills) longest = (longest + (await undisturbed(lab, problems))) / 2
  }
  return { kills, late, problems }
}

/** One tick that nobody kills; returns how long it took, in milliseconds. */
async function undisturbed(lab: Lab, problems: string[]): Promise<number> {
  const started = performance.now()
  const { code, output } = await lab.tick()
  const took = performance.now() - started
  if (code !== 0) problems.push(`an undisturbed tick: exit ${code}: ${output.slice(-400)}`)
  problems.push(...checkWhole(lab.scene, lab.before))
  return took
}

/** Starts a tick and kills it after so many milliseconds. Returns whether it had ended by itself. */
async function killedTick(lab: Lab, after: number): Promise<boolean> {
  const child = lab.start()
  const timer = setTimeout(() => child.kill('SIGKILL'), after)
  await child.exited
  clearTimeout(timer)
  return child.signalCode !== 'SIGKILL'
}

if (import.meta.main) {
  const kills = Number(process.argv[2] ?? 5000)
  const from = seed()
  const started = Date.now()
  // A loop for each part: what is checked after a tick takes longer with each commit.
  const parts = Array.from({ length: Math.ceil(kills / inOneLoop) }, (_, n) => ({
    kills: Math.min(inOneLoop, kills - n * inOneLoop),
    from: `${from} ${n}`,
  }))
  const done: Soaked[] = []
  const sum = (of: (part: Soaked) => number) => done.reduce((total, part) => total + of(part), 0)
  const work = async () => {
    for (let part = parts.shift(); part; part = parts.shift()) {
      const soaked = await soak(part)
      done.push(soaked)
      for (const problem of soaked.problems) console.log(`FAILED ${problem}`)
      const minutes = ((Date.now() - started) / 60_000).toFixed(1)
      const counts = `${sum(({ kills }) => kills)} kills (${sum(({ late }) => late)} came too late)`
      console.log(
        `${counts}, ${sum(({ problems }) => problems.length)} problems, ${minutes} min, seed ${from}`,
      )
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  process.exitCode = done.every(({ problems }) => problems.length === 0) ? 0 : 1
}
