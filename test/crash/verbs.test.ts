import { expect } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listPoints } from './faults.ts'
import type { Lab } from './lab.ts'
import { needs } from './needs.ts'
import { nameOf } from './points.ts'
import { chance, mixed, seed } from './seed.ts'
import { tryVerb, verbCases, verbLab } from './verbs.ts'

const from = seed()
const secondsEach = 2
/** However slow the machine is. */
const leastTried = 6
const workers = 2

needs('strace')(
  `sync, pause, resume, approve and repair, killed or failed at a system call, are done once or not at all (seed ${from})`,
  async () => {
    const labs = await Promise.all(Array.from({ length: workers }, verbLab))
    using gone = new DisposableStack()
    for (const lab of labs) gone.use(lab)
    const problems: string[] = []
    for (const verb of verbCases) {
      for (const lab of labs) await verb.prepare(lab)
      const [first] = labs
      if (!first) throw new Error('no lab')
      const points = mixed(
        await listPoints(first),
        ({ process, call, kind }) => `${process} ${call} ${kind}`,
        chance(`${from} ${verb.name}`),
      )
      const until = Date.now() + secondsEach * 1000
      let reached = 0
      const work = async (own: Lab) => {
        for (let n = 0; Date.now() < until || n < leastTried / labs.length; n++) {
          const point = points.shift()
          if (!point) return
          const tried = await tryVerb(own, verb, point)
          if (tried.reached) reached += 1
          if (tried.problems.length > 0)
            problems.push(`${verb.name}: ${nameOf(point)}: ${tried.problems.join('; ')}`)
        }
      }
      await Promise.all(labs.map(work))
      expect(reached).toBeGreaterThan(1)
      for (const lab of labs) lab.restore()
    }
    expect(problems).toEqual([])
  },
  120_000,
)

needs('strace')(
  'repair on a disk that fails while the log is read is an error: nothing starts again from zero',
  async () => {
    using lab = await verbLab()
    const log = join(lab.scene.loopDir, '.state.log')
    const before = readFileSync(log, 'utf8')
    writeFileSync(join(lab.scene.loopDir, '.state.loop'), '')
    lab.command = ['repair', lab.project.loop]
    const failing = ['-P', log, '-e', 'trace=openat', '-e', 'inject=openat:error=EIO']
    const { code, output } = await lab.run(['strace', '-qq', '-o', '/dev/null', ...failing])
    expect(output).toContain(`cannot read (${log})`)
    expect(code).toBe(5)
    expect(readFileSync(log, 'utf8')).toBe(before)
    expect(readdirSync(lab.scene.loopDir).filter((name) => name.includes('damaged'))).toEqual([])
    expect((await lab.run()).code).toBe(0)
    expect(lab.project.state()).toMatchObject({ status: 'halted', iteration_count: 1 })
  },
  60_000,
)
