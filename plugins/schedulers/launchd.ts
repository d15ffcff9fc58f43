import { definePlugin, projectHash, type SchedulerContext, type Unit, type UnitState } from 'automaton'
import { differences } from './differences.ts'
import { agent, agentLog, readPlist, writePlist } from './launchd-plist.ts'
import { type Owner, unitName } from './names.ts'

/** Ticks by an agent of the user's, which launchd loads at each login. */
export default definePlugin({
  name: 'launchd',
  api: 1,
  role: 'scheduler',
  setup: () => ({ scheduler: { install, remove, enable, disable, inspect } }),
})

/** Where a loop's agent lies. */
interface Place {
  label: string
  /** The domain of the user's login and the label: what launchctl calls the agent. */
  target: string
  domain: string
  /** launchd reads every file of this ending at login; with `.disabled` after it, it does not. */
  path: string
  disabled: string
  text: string
}

async function install(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const place = await placeOf(unit, ctx)
  const isNew = (await ctx.readFile(place.path)) !== place.text
  // From its own run it stays loaded as it was: to unload it would end the caller.
  if (isNew && !ctx.fromTick) await unload(place, ctx)
  if (isNew) await ctx.writeFile(place.path, place.text, { mode: 0o644 })
  await ctx.removeFile(place.disabled)
  await load(place, ctx)
}

async function remove(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const place = await placeOf(unit, ctx)
  if (!ctx.fromTick) await unload(place, ctx)
  await ctx.removeFile(place.path)
  await ctx.removeFile(place.disabled)
}

async function enable(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const place = await placeOf(unit, ctx)
  const kept = await ctx.readFile(place.disabled)
  if (kept !== place.text) return install(unit, ctx)
  await rename(place.disabled, place.path, ctx)
  await load(place, ctx)
}

async function disable(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const place = await placeOf(unit, ctx)
  await rename(place.path, place.disabled, ctx)
  if (!ctx.fromTick) await unload(place, ctx)
}

async function inspect(unit: Unit, ctx: SchedulerContext): Promise<UnitState> {
  const place = await placeOf(unit, ctx)
  const active = await ctx.readFile(place.path)
  const found = active ?? (await ctx.readFile(place.disabled))
  if (found === null) return { installed: false, enabled: false, drift: [] }
  const loaded = active !== null && (await isLoaded(place, ctx)) && !(await isSwitchedOff(place, ctx))
  return {
    installed: true,
    enabled: loaded,
    drift: driftOf(place, found),
    warnings: privacyWarning(unit, ctx),
  }
}

const guarded = ['Desktop', 'Documents', 'Downloads', 'Library/Mobile Documents']

/** macOS asks a person before a program may read these folders, and an agent has nobody to ask. */
function privacyWarning({ project }: Unit, { home }: SchedulerContext): string[] {
  const folder = guarded.map((name) => `${home}/${name}`).find((path) => `${project}/`.startsWith(`${path}/`))
  if (folder === undefined) return []
  return [
    `macOS keeps programs in the background out of ${folder}: move the project, or give automaton Full Disk Access in the system’s settings, under Privacy & Security`,
  ]
}

function driftOf({ path, text }: Place, found: string): string[] {
  try {
    return differences(readPlist(text), readPlist(found)).map((change) => `${path}: ${change}`)
  } catch (error) {
    return [`${path}: ${error instanceof Error ? error.message : error}`]
  }
}

async function placeOf(unit: Unit, ctx: SchedulerContext): Promise<Place> {
  if (ctx.user === null) throw new Error('launchd knows users by their number, and there is none here')
  const folder = `${ctx.home}/Library/LaunchAgents`
  const short = `com.automaton.loop.${unit.loop}`
  const label = await unitName({
    short,
    withHash: `${short}.${projectHash(unit.project)}`,
    owner: (name) => ownerOf(`${folder}/${name}.plist`, unit, ctx),
  })
  const path = `${folder}/${label}.plist`
  const domain = `gui/${ctx.user}`
  const text = writePlist(agent(label, unit))
  return { label, domain, target: `${domain}/${label}`, path, disabled: `${path}.disabled`, text }
}

/** An agent is ours when it runs our script, or prints beside it. */
async function ownerOf(path: string, { script }: Unit, ctx: SchedulerContext): Promise<Owner> {
  const text = (await ctx.readFile(path)) ?? (await ctx.readFile(`${path}.disabled`))
  if (text === null) return 'nobody'
  try {
    const { ProgramArguments, StandardOutPath } = readPlist(text)
    const isOurs = Bun.deepEquals(ProgramArguments, [script]) || StandardOutPath === agentLog(script)
    return isOurs ? 'us' : 'other'
  } catch {
    return 'other'
  }
}

async function rename(from: string, to: string, ctx: SchedulerContext): Promise<void> {
  const text = await ctx.readFile(from)
  if (text === null) return
  await ctx.writeFile(to, text, { mode: 0o644 })
  await ctx.removeFile(from)
}

const attempts = 10
const pauseMs = 200
/** launchctl's exit codes while an agent is being unloaded: an I/O error, in progress, already in progress. */
const busy: readonly (number | null)[] = [5, 36, 37]
/** Its exit code where the user is not logged in at the screen. */
const noDomain = 125

/** Loads the agent, unless it is. Right after it was unloaded, launchd refuses for a moment. */
async function load(place: Place, ctx: SchedulerContext): Promise<void> {
  if (await isLoaded(place, ctx)) return
  // A person's `launchctl disable` outlives the file.
  await ctx.run(['launchctl', 'enable', place.target])
  for (let attempt = 1; ; attempt++) {
    const { exitCode, output } = await ctx.run(['launchctl', 'bootstrap', place.domain, place.path])
    if (exitCode === 0) return
    if (attempt === attempts || !busy.includes(exitCode)) {
      const why = output.trim() || 'it said nothing'
      // Over ssh there is no such domain; at the next login launchd loads the file by itself.
      const hint =
        exitCode === noDomain ? '; log in at the screen once: an agent belongs to a login there' : ''
      throw new Error(`launchctl bootstrap ${place.domain} ${place.path}: ${why}${hint}`)
    }
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

async function unload(place: Place, ctx: SchedulerContext): Promise<void> {
  if (!(await isLoaded(place, ctx))) return
  const { exitCode, output } = await ctx.run(['launchctl', 'bootout', place.target])
  if (exitCode !== 0 && (await isLoaded(place, ctx))) {
    throw new Error(`launchctl bootout ${place.target}: ${output.trim() || 'it said nothing'}`)
  }
}

async function isLoaded({ target }: Place, ctx: SchedulerContext): Promise<boolean> {
  return (await ctx.run(['launchctl', 'print', target])).exitCode === 0
}

async function isSwitchedOff({ domain, label }: Place, ctx: SchedulerContext): Promise<boolean> {
  const { stdout } = await ctx.run(['launchctl', 'print-disabled', domain])
  return stdout.split('\n').some((line) => /=> (?:true|disabled)$/.test(line) && line.includes(`"${label}"`))
}
