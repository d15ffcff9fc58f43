import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { peek } from '../store/journal.ts'
import { findProject, loopPlaces, type Project } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import { forgetProject, type NotedUnit, notedUnits, scheduledProjects } from '../store/project-book.ts'
import { callProgram } from './call-program.ts'
import { forgetSchedule } from './install-loop.ts'
import { programFile, removeProgram } from './install-program.ts'

/** A loop whose schedule was taken away. */
export interface UnscheduledLoop {
  loop: string
  project: string
}

/** What an uninstall took away, and what it left. */
export interface UninstallReport {
  home: string
  unscheduled: UnscheduledLoop[]
  /** Files that are gone. */
  removed: string[]
  /** What is still there, in words. */
  left: string[]
}

/**
 * Takes away the schedules of all loops, HOME's and those of other projects, and then the program; the person's repository
 * stays. Asks first, unless `yes`. A schedule that cannot be taken away stops it before the program goes, since its unit would
 * call a program that is not there. Throws `uninstall_stopped`.
 */
export async function uninstall(app: App, { yes }: { yes: boolean }): Promise<UninstallReport> {
  const { home } = app
  const projects = projectsOf(home)
  const loops = projects.flatMap(scheduledIn)
  const strays = straysOf(home, projects)
  const all = [...loops, ...strays.map(({ loop, root }) => ({ loop, project: root }))]
  const isThere = existsSync(programFile(home))
  if (!yes && (isThere || all.length > 0)) await agreed(app, all)
  for (const { loop, project } of loops) await unschedule(app, { loop, project })
  const stay = await removeStrays(app, strays)
  for (const root of scheduledProjects(home)) forgetProject(home, root)
  forgetSchedule(home)
  return { home, unscheduled: all, removed: removeProgram(home), left: [...stay, ...leftIn(home, projects)] }
}

/** HOME and every project that has had a schedule, as far as they are there. */
function projectsOf(home: string): Project[] {
  const roots = [home, ...scheduledProjects(home).filter((root) => root !== home)]
  return roots.filter((root) => existsSync(root)).map((root) => findProject({ cwd: root, home, flag: root }))
}

/** Units of loops that somebody deleted, or whose project, before their schedule was taken away. */
function straysOf(home: string, projects: Project[]): NotedUnit[] {
  const isThere = ({ root, loop }: NotedUnit) =>
    projects.some((project) => project.root === root && listLoops(project).includes(loop))
  return notedUnits(home).filter((unit) => !isThere(unit))
}

/** Returns what stays, in words. */
async function removeStrays(app: App, strays: NotedUnit[]): Promise<string[]> {
  if (strays.length === 0) return []
  const { home, env, clock, progress, self, signal } = app
  const { removeUnit } = await import('../runner/schedule.ts')
  const project = findProject({ cwd: home, home, flag: home })
  const deps = {
    project,
    home,
    env,
    clock,
    progress,
    host: await app.host(),
    self,
    byScheduler: false,
    signal,
  }
  const left: string[] = []
  for (const { root, loop, scheduler } of strays) {
    const script = loopPlaces(project, loop).script
    const unit = {
      loop,
      project: root,
      script: join(root, relative(project.root, script)),
      intervalSeconds: 3600,
    }
    const stays = await removeUnit(deps, { scheduler, unit })
    if (stays !== null) left.push(stays)
  }
  return left
}

/** A loop whose state cannot be read may have a schedule, so it counts. */
function scheduledIn(project: Project): UnscheduledLoop[] {
  return listLoops(project)
    .filter((name) => {
      const places = loopPlaces(project, name)
      const { state } = peek(places)
      return existsSync(places.script) || state?.schedule.kind != null
    })
    .map((loop) => ({ loop, project: project.root }))
}

async function agreed({ terminal }: App, loops: UnscheduledLoop[]): Promise<void> {
  if (!terminal.interactive) {
    throw errors.usage(
      'not uninstalled (automaton uninstall)',
      'nobody is there to be asked',
      'automaton uninstall --yes',
    )
  }
  const names = loops.map(({ loop, project }) => `  the schedule of ${loop} in ${project}\n`).join('')
  const answer = await terminal.ask(
    `${names}  the program\nTake this away? Your repository stays. Type yes: `,
  )
  if (answer.trim() === 'yes') return
  throw errors.usage('not uninstalled (automaton uninstall)', 'the answer was not yes', 'automaton uninstall')
}

async function unschedule(app: App, { loop, project }: UnscheduledLoop): Promise<void> {
  const args = ['uninstall-schedule', loop, '--project', project]
  const [program = '', ...more] = app.self
  const { problem } = await callProgram(app, { program, home: app.home, args: [...more, ...args] })
  if (problem !== null) throw errors.uninstallStopped(loop, project, problem)
}

function leftIn(home: string, projects: Project[]): string[] {
  const loops = projects.filter((project) => listLoops(project).length > 0)
  return [
    ...(existsSync(home) ? [`your repository, with prompts, templates, tasks and loops: ${home}`] : []),
    ...loops.filter(({ root }) => root !== home).map(({ automaton }) => `loops and tasks: ${automaton}`),
    ...(existsSync(`${programFile(home)}.old`)
      ? [`the program, which still runs: ${programFile(home)}.old`]
      : []),
    'branches automaton/… with work that you did not merge, and the line for PATH in your shell’s profile',
  ]
}
