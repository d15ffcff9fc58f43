import {
  definePlugin,
  projectHash,
  type RunResult,
  type SchedulerContext,
  type Unit,
  type UnitState,
} from 'automaton'
import { type Owner, unitName } from './names.ts'
import { taskDrift } from './schtasks-compare.ts'
import {
  documentText,
  flatten,
  ownerMark,
  readTask,
  type TaskSettings,
  taskDocument,
  taskTree,
} from './schtasks-xml.ts'

/** Ticks by a task of the Windows Task Scheduler, which runs while the user is logged on, and shows no window. */
export default definePlugin({
  name: 'schtasks',
  api: 1,
  role: 'scheduler',
  setup: () => ({ scheduler: { install, remove, enable, disable, inspect } }),
})

async function install(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const name = await nameOf(unit, ctx)
  const document = taskDocument(taskTree(unit, await sidOf(ctx)))
  const file = `${unit.script}.xml`
  await ctx.writeFile(file, document)
  try {
    await schtasks(ctx, '/Create', '/TN', name, '/XML', file, '/F')
  } finally {
    await ctx.removeFile(file)
  }
}

async function remove(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const name = await nameOf(unit, ctx)
  if (await query(name, ctx)) await schtasks(ctx, '/Delete', '/TN', name, '/F')
}

async function enable(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const name = await nameOf(unit, ctx)
  const task = await query(name, ctx)
  if (!task || task.drift(unit).length > 0) return install(unit, ctx)
  await schtasks(ctx, '/Change', '/TN', name, '/ENABLE')
}

async function disable(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const name = await nameOf(unit, ctx)
  // A run that goes on is not ended by this.
  if (await query(name, ctx)) await schtasks(ctx, '/Change', '/TN', name, '/DISABLE')
}

async function inspect(unit: Unit, ctx: SchedulerContext): Promise<UnitState> {
  const task = await query(await nameOf(unit, ctx), ctx)
  if (!task) return { installed: false, enabled: false, drift: [] }
  return { installed: true, enabled: task.enabled, drift: task.drift(unit) }
}

/** A task that is there. */
interface Registered {
  owner: string
  enabled: boolean
  drift(unit: Unit): string[]
}

async function query(name: string, ctx: SchedulerContext): Promise<Registered | null> {
  const argv = ['schtasks', '/Query', '/TN', name, '/XML']
  const { exitCode, stdout } = await ctx.run(argv, { encoding: 'latin1' })
  if (exitCode !== 0) return null
  let task: TaskSettings
  try {
    task = readTask(documentText(stdout))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { owner: '', enabled: false, drift: () => [`the task ${name} cannot be read: ${why}`] }
  }
  return {
    owner: String(task['RegistrationInfo/Source'] ?? ''),
    enabled: task['Settings/Enabled'] !== 'false',
    drift: (unit) => taskDrift(flatten(taskTree(unit, null)), task),
  }
}

/** `\Automaton\<project>-<loop>`; the hash of the project follows where another project has that name. */
function nameOf(unit: Unit, ctx: SchedulerContext): Promise<string> {
  const short = `\\Automaton\\${slug(unit.project)}-${unit.loop}`
  return unitName({
    short,
    withHash: `${short}-${projectHash(unit.project)}`,
    async owner(name): Promise<Owner> {
      const task = await query(name, ctx)
      if (!task) return 'nobody'
      return task.owner === ownerMark(unit) ? 'us' : 'other'
    },
  })
}

/** The project's folder, of which only what every console prints alike stays. */
function slug(project: string): string {
  const folder = project.split(/[\\/]/).findLast((part) => part !== '') ?? ''
  const plain = folder.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  return plain.slice(0, 40).replaceAll(/^-|-$/g, '') || 'project'
}

/** The number that Windows knows the user by, whatever the language and the code page; null lets Windows choose. */
async function sidOf(ctx: SchedulerContext): Promise<string | null> {
  const { stdout } = await ctx.run(['whoami', '/user', '/fo', 'csv', '/nh'])
  return /"(S-1-[\d-]+)"\s*$/.exec(stdout)?.[1] ?? null
}

async function schtasks(ctx: SchedulerContext, ...args: string[]): Promise<RunResult> {
  const result = await ctx.run(['schtasks', ...args])
  if (result.exitCode === 0) return result
  throw new Error(`schtasks ${args.join(' ')}: ${result.output.trim() || 'it said nothing'}`)
}
