import { expect } from 'bun:test'
import { checkAfterFault, checkWhole, readChain } from '../helpers/invariants.ts'
import { letHappen, listPoints, tryPoint } from './faults.ts'
import { type Beginning, beginnings, type Lab, labBefore } from './lab.ts'
import { needs } from './needs.ts'
import { nameOf, type Point } from './points.ts'
import { chance, mixed, seed } from './seed.ts'

const from = seed()
const secondsEach = 15
/** However slow the machine is. */
const leastTried = 16
const workers = 2

const names: Record<Beginning, string> = {
  first: 'the first tick',
  later: 'a later tick',
  recovering: 'a tick that cleans up after a dead one',
}

for (const beginning of beginnings) {
  const name = names[beginning]
  needs('strace')(
    `${name}, killed or failed at a system call, leaves nothing half done (seed ${from})`,
    async () => {
      const labs = await Promise.all(Array.from({ length: workers }, () => labBefore(beginning)))
      using _gone = disposeAll(labs)
      const [lab] = labs
      if (!lab) throw new Error('no lab')
      const points = mixed(await listPoints(lab), groupOf, chance(`${from} ${name}`))
      const until = Date.now() + secondsEach * 1000
      const problems: string[] = []
      let reached = 0
      const work = async (own: Lab) => {
        for (let n = 0; Date.now() < until || n < leastTried / labs.length; n++) {
          const point = points.shift()
          if (!point) return
          const tried = await tryPoint(own, point)
          if (tried.reached) reached += 1
          if (tried.problems.length > 0) problems.push(`${nameOf(point)}: ${tried.problems.join('; ')}`)
        }
      }
      await Promise.all(labs.map(work))
      expect(problems).toEqual([])
      expect(reached).toBeGreaterThan(leastTried / 2)
    },
    120_000,
  )
}

needs('strace')(
  'a tick killed while settling counts once or not at all',
  async () => {
    using lab = await labBefore('later')
    const ticksBefore = ticksIn(lab)
    const points = await listPoints(lab)
    const line = points.findLastIndex(
      ({ process, shown }) => process === 0 && /state\.log.*O_APPEND/.test(shown),
    )
    const isKill = ({ process, kind }: Point) => process === 0 && kind === 'kill'
    const settling = points.slice(line).filter(isKill)
    const rename = points.findLastIndex(
      ({ call, shown }) => call === 'rename' && shown.includes('/.state.loop"'),
    )
    // The last before the state is renamed: the log line is there, and the state is not.
    const between = points.slice(line, rename).filter(isKill).at(-1)
    if (!between) throw new Error('there is nothing between the log line and the state')
    const random = chance(`${from} settling`)
    const some = mixed(settling, ({ call }) => call, random).slice(0, 6)
    let settled = 0
    for (const point of new Set([between, ...some])) {
      const { problems } = await letHappen(lab, point)
      expect([...problems, ...checkAfterFault(lab.scene, lab.before)]).toEqual([])
      // On a busy machine a call has another number at times: what is there says where it was killed.
      const logged = ticksIn(lab) - ticksBefore
      expect((await lab.tick()).output).toContain('"outcome":"worked"')
      expect(checkWhole(lab.scene, lab.before)).toEqual([])
      expect(lab.project.state().iteration_count - lab.before.iterations).toBe(logged + 1)
      settled += logged
    }
    expect(settled).toBeGreaterThan(0)
  },
  60_000,
)

/** The ticks that the log tells of, without a line that was cut short. */
function ticksIn({ scene }: Lab): number {
  return readChain(scene).records.filter(({ type }) => type === 'tick').length
}

function groupOf({ process, call, kind }: Point): string {
  return `${process === 0 ? 'tick' : 'git'} ${call} ${kind}`
}

function disposeAll(labs: Disposable[]): Disposable {
  return {
    [Symbol.dispose]() {
      for (const lab of labs) lab[Symbol.dispose]()
    },
  }
}
