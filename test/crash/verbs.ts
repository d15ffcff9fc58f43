import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkAfterFault, checkWhole, readChain } from '../helpers/invariants.ts'
import { must } from '../helpers/project.ts'
import { letHappen, type Tried } from './faults.ts'
import { type Lab, makeLab } from './lab.ts'
import type { Point } from './points.ts'

/** What a person can do to a loop, and how it has to end, whatever happens on the way. */
export interface VerbCase {
  name: string
  /** Brings the lab from where the case before left it to where the verb starts, and sets the lab's command. */
  prepare(lab: Lab): Promise<void>
  /** The loop's status before and after. `damaged`: the state cannot be read. */
  from: 'running' | 'paused' | 'halted' | 'damaged'
  to: 'running' | 'paused' | 'halted'
  /** A tick comes before the verb is typed again, and must work. */
  tickFinishes?: boolean
}

/** The verbs, in the order in which one lab can take them. */
export const verbCases: readonly VerbCase[] = [
  {
    name: 'sync',
    from: 'running',
    to: 'running',
    tickFinishes: true,
    async prepare(lab) {
      const mark = `mark-${crypto.randomUUID()}`
      appendFileSync(lab.scene.marks ?? '', `${mark}\n`)
      appendFileSync(join(lab.scene.worktree, 'src', 'work.txt'), `${mark}\n`)
      writeFileSync(join(lab.project.root, 'AGENTS.md'), 'out of every scope\n')
      lab.project.git('add', '-A', 'AGENTS.md')
      lab.project.git('commit', '-qm', 'main goes on')
      lab.command = ['sync', 'nightly']
      lab.save()
    },
  },
  {
    name: 'pause-loop',
    from: 'running',
    to: 'paused',
    async prepare(lab) {
      lab.command = ['pause-loop', 'nightly']
      lab.save()
    },
  },
  {
    name: 'resume-loop',
    from: 'paused',
    to: 'running',
    async prepare(lab) {
      await must(lab.project.call(['pause-loop', 'nightly']))
      lab.command = ['resume-loop', 'nightly']
      lab.save()
    },
  },
  {
    name: 'approve',
    from: 'halted',
    to: 'running',
    async prepare(lab) {
      await must(lab.project.call(['resume-loop', 'nightly']))
      lab.project.configure({ brakes: { max_iterations: 1 } })
      await halted(lab)
      lab.project.configure({ brakes: { max_iterations: 1_000_000 } })
      lab.save()
    },
  },
  {
    name: 'approve --discard',
    from: 'halted',
    to: 'running',
    async prepare(lab) {
      await must(lab.project.call(lab.command))
      const mark = `mark-${crypto.randomUUID()}`
      appendFileSync(lab.scene.marks ?? '', `${mark}\n`)
      appendFileSync(join(lab.scene.worktree, 'src', 'work.txt'), `${mark}\n`)
      writeFileSync(join(lab.scene.worktree, '.npmrc'), 'x\n')
      await halted(lab)
      lab.command.push('--discard')
    },
  },
  {
    name: 'repair',
    from: 'damaged',
    to: 'halted',
    async prepare(lab) {
      await must(lab.project.call(lab.command))
      lab.command = ['repair', 'nightly']
      lab.save()
      writeFileSync(join(lab.scene.loopDir, '.state.loop'), damage)
      lab.save({ look: false })
    },
  },
]

/** A lab that the cases can be prepared in, one after the other. */
export function verbLab(): Promise<Lab> {
  return makeLab(1)
}

/**
 * Lets one fault happen in a verb, checks, has the person type it again, and checks that it came to its end exactly once;
 * then a tick shows that nothing is left over.
 */
export async function tryVerb(lab: Lab, verb: VerbCase, point: Point): Promise<Tried> {
  const { reached, problems } = await letHappen(lab, point)
  problems.push(...afterFault(lab, verb))
  if (verb.tickFinishes) {
    const tick = await lab.tick()
    if (tick.code !== 0) problems.push(`the tick after it: exit ${tick.code}: ${tick.output.slice(-300)}`)
  }
  const again = await lab.run()
  // Refused, because it has been done already.
  if (again.code !== 0 && again.code !== 3)
    problems.push(`again: exit ${again.code}: ${again.output.slice(-300)}`)
  const { status } = latest(lab)
  if (status !== verb.to) problems.push(`it ended ${status} instead of ${verb.to}`)
  if (verb.from === 'halted' && approvals(lab) !== 1) problems.push(`it was approved ${approvals(lab)} times`)
  const tick = await lab.tick()
  if (tick.code !== (verb.to === 'running' ? 0 : 3))
    problems.push(`the next tick: exit ${tick.code}: ${tick.output.slice(-300)}`)
  return { point, reached, problems: [...problems, ...checkWhole(lab.scene, lab.before)] }
}

const damage = '{"schema_version": 1, "na'

function afterFault(lab: Lab, { from, to }: VerbCase): string[] {
  if (from === 'damaged') {
    const state = readStateText(lab)
    // Not yet, or done: nothing that is neither.
    if (state === null || state === damage) return []
  }
  const problems = checkAfterFault(lab.scene, lab.before)
  const { status } = latest(lab)
  if (status !== from && status !== to) problems.push(`it is ${status} now`)
  const approved = approvals(lab)
  if (from === 'halted' && status === 'running' && approved !== 1)
    problems.push(`it runs with ${approved} approvals`)
  if (from === 'damaged' && status === 'running') problems.push('it runs after a repair')
  return problems
}

/** The state after everything in the log, whether or not the state file has it yet. */
function latest(lab: Lab): { status: string } {
  return readChain(lab.scene).records.at(-1)?.state ?? { status: 'unknown' }
}

/** How often the halt of the lab's command was approved. */
function approvals(lab: Lab): number {
  const id = lab.command[lab.command.indexOf('--halt') + 1]
  return readChain(lab.scene).records.filter(({ type, data }) => type === 'approve' && data.halt === id)
    .length
}

function readStateText(lab: Lab): string | null {
  try {
    return readFileSync(join(lab.scene.loopDir, '.state.loop'), 'utf8')
  } catch {
    return null
  }
}

/** Has the gate halt the loop, and makes the approval of that halt the lab's command. */
async function halted(lab: Lab): Promise<void> {
  await lab.project.call(['check-gate', 'nightly'])
  lab.command = ['approve', '--loop', 'nightly', '--halt', lab.project.state().halt.id]
  lab.save()
}
