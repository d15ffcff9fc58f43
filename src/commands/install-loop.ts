import type { App } from '../app.ts'
import { readInstallRecord, writeInstallRecord } from '../store/install-record.ts'
import { findProject } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { findRepository } from '../system/repository.ts'
import { callProgram } from './call-program.ts'
import { findAgents } from './look-around.ts'

/** What became of the loop that every installation has. */
export interface LoopInstall {
  name: string
  /** `deleted`: a person removed it, and it stays so. `missing`: it could not be made; a warning says why. */
  state: 'made' | 'there' | 'deleted' | 'missing'
  /** Whether this call scheduled it. */
  scheduled: boolean
}

/** The loop that is on by default (decision D21). */
export const defaultLoop = 'self-improvement'

const intervalSeconds = 3600

/**
 * Makes the default loop and schedules it, each once in the life of a HOME: what a person deleted or unscheduled later
 * stays so. By the installed program, so that the unit names it. Never throws for what the two commands refuse: the
 * program works without the loop.
 */
export async function provideLoop(
  app: App,
  o: { home: string; program: string },
): Promise<LoopInstall & { warnings: string[] }> {
  const { home, program } = o
  const gitDir = findRepository(home)?.commonDir ?? home
  const record = readInstallRecord(gitDir)
  const done = record.loops[defaultLoop] ?? { made: false, scheduled: false }
  const note = (change: Partial<typeof done>) => {
    Object.assign(done, change)
    writeInstallRecord(gitDir, { ...record, loops: { ...record.loops, [defaultLoop]: done } })
  }
  const project = findProject({ cwd: home, home, flag: home })
  const isThere = () => listLoops(project).includes(defaultLoop)
  const report = { name: defaultLoop, scheduled: false }
  const isHere = isThere()
  if (!isHere && done.made) return { ...report, state: 'deleted', warnings: [] }
  const call = (...args: string[]) => callProgram(app, { program, home, args: [...args, '--project', home] })
  if (!isHere) {
    const made = await call('create-loop', defaultLoop, '--from-template', defaultLoop, ...(await agent(app)))
    if (made.problem !== null) return { ...report, state: 'missing', warnings: [made.problem] }
  }
  if (!done.made) note({ made: true })
  const state = isHere ? 'there' : 'made'
  if (done.scheduled) return { ...report, state, warnings: [] }
  const { problem, warnings } = await call(
    'install-schedule',
    defaultLoop,
    '--interval',
    String(intervalSeconds),
  )
  if (problem !== null) return { ...report, state, warnings: [`${defaultLoop} is not scheduled: ${problem}`] }
  note({ scheduled: true })
  return { ...report, state, scheduled: true, warnings }
}

/** After an uninstall the next installation schedules the loop again. */
export function forgetSchedule(home: string): void {
  const gitDir = findRepository(home)?.commonDir
  if (gitDir === undefined) return
  const record = readInstallRecord(gitDir)
  const loop = record.loops[defaultLoop]
  if (!loop?.scheduled) return
  writeInstallRecord(gitDir, {
    ...record,
    loops: { ...record.loops, [defaultLoop]: { ...loop, scheduled: false } },
  })
}

/** The first agent that is there; with none the template's stays, and the loop's ticks are refused until it is installed. */
async function agent(app: App): Promise<string[]> {
  const [found] = findAgents(await app.host(), app.env.PATH ?? '').supported
  return found ? ['--harness', found.name] : []
}
