import { definePlugin, type RunResult, type SchedulerContext, type Unit, type UnitState } from 'automaton'
import { differences } from './differences.ts'
import { readUnitFile, type SystemdUnits, systemdUnits } from './systemd-units.ts'

/** Ticks by a timer of the user's own systemd: it makes up for one missed run, and ends what a dead tick left. */
export default definePlugin({
  name: 'systemd',
  api: 1,
  role: 'scheduler',
  setup: () => ({ scheduler: { install, remove, enable: install, disable, inspect } }),
})

/** Where the units lie, and what should stand in them. */
interface Place {
  units: SystemdUnits
  timer: string
  files: { path: string; text: string }[]
}

async function install(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const { files, timer } = await placeOf(unit, ctx)
  const stale = await Promise.all(files.map(async ({ path, text }) => (await ctx.readFile(path)) !== text))
  for (const { path, text } of files.filter((_, i) => stale[i]))
    await ctx.writeFile(path, text, { mode: 0o644 })
  if (stale.includes(true) || (await show(timer, ctx)).NeedDaemonReload === 'yes') {
    await systemctl(ctx, 'daemon-reload')
  }
  await systemctl(ctx, 'enable', '--now', timer)
}

async function disable(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const { files, timer } = await placeOf(unit, ctx)
  // The timer alone: a tick that runs is the service's, and goes on.
  if (await isThere(files, ctx)) await systemctl(ctx, 'disable', '--now', timer)
}

async function remove(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const folder = await unitFolder(ctx).catch(() => null)
  if (folder === null) return removeFiles(unit, ctx)
  const { units, files, timer } = placeIn(folder, unit)
  if (!(await isThere(files, ctx))) return
  await systemctl(ctx, 'disable', '--now', timer)
  // The time of the last run, which Persistent= keeps, and a failure: nothing of either may stay.
  await ask(ctx, 'clean', '--what=state', timer)
  for (const { path } of files) await ctx.removeFile(path)
  await systemctl(ctx, 'daemon-reload')
  await ask(ctx, 'reset-failed', timer, `${units.name}.service`)
}

/** Where no systemd runs for the user there is nothing to stop: what it would read at its next start is taken away. */
async function removeFiles(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const folder = `${ctx.home}/.config/systemd/user`
  const { files, timer } = placeIn(folder, unit)
  for (const { path } of files) await ctx.removeFile(path)
  await ctx.removeFile(`${folder}/timers.target.wants/${timer}`)
  await ctx.removeFile(`${ctx.home}/.local/share/systemd/timers/stamp-${timer}`)
}

async function inspect(unit: Unit, ctx: SchedulerContext): Promise<UnitState> {
  const { files, timer } = await placeOf(unit, ctx)
  if (!(await isThere(files, ctx))) return { installed: false, enabled: false, drift: [] }
  const drift: string[] = []
  for (const { path, text } of files) {
    const found = await ctx.readFile(path)
    const changes = found === null ? ['it is missing'] : differences(readUnitFile(text), readUnitFile(found))
    drift.push(...changes.map((change) => `${path}: ${change}`))
  }
  const state = await show(timer, ctx)
  if (state.NeedDaemonReload === 'yes') drift.push('systemd has not read the files since they were changed')
  const enabled = state.UnitFileState === 'enabled' && state.ActiveState === 'active'
  return { installed: true, enabled, drift, warnings: await lingerWarning(ctx) }
}

async function placeOf(unit: Unit, ctx: SchedulerContext): Promise<Place> {
  return placeIn(await unitFolder(ctx), unit)
}

function placeIn(folder: string, unit: Unit): Place {
  const units = systemdUnits(unit)
  const files = [
    { path: `${folder}/${units.name}.service`, text: units.service },
    { path: `${folder}/${units.name}.timer`, text: units.timer },
  ]
  return { units, timer: `${units.name}.timer`, files }
}

async function isThere(files: Place['files'], ctx: SchedulerContext): Promise<boolean> {
  for (const { path } of files) if ((await ctx.readFile(path)) !== null) return true
  return false
}

/**
 * The folder where the user's systemd looks for the user's units. What the caller's own XDG_CONFIG_HOME says does not
 * matter: the service manager was started without it, and so is a tick.
 */
async function unitFolder(ctx: SchedulerContext): Promise<string> {
  const { stdout } = await systemctl(ctx, 'show', '--property=UnitPath', '--value')
  // The list begins with the folder that goes before ours; a path with spaces stands in quotes.
  const [, quoted, bare] = /^(?:"((?:[^"\\]|\\.)*?)|(\S*?))\/systemd\/user\.control["\s]/.exec(stdout) ?? []
  const config = quoted?.replaceAll(/\\(.)/g, '$1') ?? bare ?? `${ctx.home}/.config`
  return `${config}/systemd/user`
}

async function show(timer: string, ctx: SchedulerContext): Promise<Partial<Record<string, string>>> {
  const wanted = '--property=UnitFileState,ActiveState,NeedDaemonReload'
  const { stdout } = await systemctl(ctx, 'show', wanted, timer)
  return Object.fromEntries(stdout.split('\n').map((line) => line.split('=', 2)))
}

/** Without lingering, a user's timers end with the user's last session. */
async function lingerWarning(ctx: SchedulerContext): Promise<string[]> {
  if (ctx.user === null) return []
  const { stdout } = await ctx.run([
    'loginctl',
    'show-user',
    String(ctx.user),
    '--property=Linger',
    '--value',
  ])
  if (stdout.trim() !== 'no') return []
  return ['timers stop when you log out: loginctl enable-linger keeps them']
}

async function systemctl(ctx: SchedulerContext, ...args: string[]): Promise<RunResult> {
  const result = await ask(ctx, ...args)
  if (result.exitCode === 0) return result
  const why = result.output.trim() || (result.timedOut ? 'it did not answer' : 'it said nothing')
  throw new Error(`systemctl --user ${args.join(' ')}: ${why}`)
}

function ask(ctx: SchedulerContext, ...args: string[]): Promise<RunResult> {
  // A tick starts with a clean environment, and a shell after su has another user's: this is where logind puts it.
  const env = ctx.user === null ? {} : { XDG_RUNTIME_DIR: `/run/user/${ctx.user}` }
  return ctx.run(['systemctl', '--user', '--no-ask-password', ...args], { env })
}
