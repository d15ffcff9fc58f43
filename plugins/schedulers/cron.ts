import { definePlugin, type SchedulerContext, type Unit } from 'automaton'
import { cronLine, entryOf, foreignPart, hasAllOf, withLine, withoutLine } from './cron-table.ts'

/** One line in the user's crontab for each loop. Every other line stays as it is, byte for byte. */
export default definePlugin({
  name: 'cron',
  api: 1,
  role: 'scheduler',
  setup: () => ({
    scheduler: {
      install: add,
      enable: add,
      remove: take,
      disable: take,
      async inspect(unit, ctx) {
        const entry = entryOf((await read(ctx)) ?? '', unit, lineOf(unit))
        const asleep = entry.enabled && (await nobodyRunsIt(ctx))
        const why =
          'no cron daemon runs here: start it (as root: service cron start), or use automaton daemon'
        return { ...entry, warnings: asleep ? [why] : [] }
      },
    },
  }),
})

const longestTable = 1 << 20
const tries = 3

function add(unit: Unit, ctx: SchedulerContext): Promise<void> {
  const line = lineOf(unit)
  return change({ unit, ctx, edit: (table) => withLine(table, unit, line) })
}

function take(unit: Unit, ctx: SchedulerContext): Promise<void> {
  return change({ unit, ctx, edit: (table) => withoutLine(table, unit) })
}

function lineOf(unit: Unit): string {
  const made = cronLine(unit)
  if ('refused' in made) throw new Error(made.refused)
  return made.line
}

/** Edits the table and reads it back. Whatever goes wrong, what other people have in it is put back or kept in a file. */
async function change({ unit, ctx, edit }: Change): Promise<void> {
  for (let left = tries; left > 0; left--) {
    const before = await read(ctx)
    const after = edit(before ?? '')
    if (after === (before ?? '')) return
    const backup = await keepBackup(unit, ctx, before)
    // Another program may have edited it meanwhile: then from the start.
    if ((await read(ctx)) !== before) continue
    const refused = await write(ctx, after)
    const now = await readAfter(ctx)
    const isBack = now === (before ?? '')
    if (now === after || isBack) await dropBackup(ctx, backup)
    if (now === after) return
    if (isBack)
      throw new Error(`${refused ?? 'crontab took the table and did not keep it'}; the crontab is as it was`)
    // Somebody wrote to it right after, and nothing of other people's is lost.
    if (refused === null && typeof now === 'string' && hasAllOf(withoutLine(before ?? '', unit), now))
      continue
    const what =
      refused ??
      `the crontab ${typeof now === 'string' ? 'holds something else than was written' : now.problem}`
    throw new Error(`${what}; ${await putBack(ctx, before, backup)}`)
  }
  throw new Error('the crontab changed at every try: another program writes to it; try again')
}

interface Change {
  unit: Unit
  ctx: SchedulerContext
  edit(table: string): string
}

/** The table; null when the user has none. Throws when that is not sure, since what cannot be read would be lost by writing. */
async function read(ctx: SchedulerContext): Promise<string | null> {
  const { exitCode, stdout, output, timedOut } = await ctx.run(['crontab', '-l'], { encoding: 'latin1' })
  const unread = (why: string) => new Error(`the crontab could not be read, and was left as it is: ${why}`)
  if (timedOut) throw unread('crontab -l did not end')
  if (exitCode !== 0) {
    if (stdout === '' && hasNone.test(output)) return null
    throw unread(`crontab -l exited with ${exitCode}: ${firstLine(output)}`)
  }
  if (stdout.length > longestTable) throw unread('it has over 1 MiB')
  if (stdout !== '') return stdout
  throw unread('crontab -l printed nothing. If the table is meant to be empty: crontab -r')
}

/** What the different crons say. */
const hasNone = /^(?:crontab: )?no crontab for |^crontab: can't open '[^']*': No such file or directory/m

/** The table after a write, '' for none; or why it cannot be read. */
async function readAfter(ctx: SchedulerContext): Promise<string | { problem: string }> {
  try {
    return (await read(ctx)) ?? ''
  } catch (error) {
    return { problem: `cannot be read after writing (${error instanceof Error ? error.message : error})` }
  }
}

/** Installs a table; an empty one is removed. Returns why crontab refused, or null. */
async function write(ctx: SchedulerContext, table: string): Promise<string | null> {
  const { exitCode, output, timedOut } =
    table === ''
      ? await ctx.run(['crontab', '-r'])
      : await ctx.run(['crontab', '-'], { stdin: Buffer.from(table, 'latin1') })
  if (timedOut) return 'crontab did not end'
  return exitCode === 0 ? null : `crontab refused the table: ${firstLine(output)}`
}

async function putBack(ctx: SchedulerContext, before: string | null, backup: string): Promise<string> {
  await write(ctx, before ?? '')
  if ((await readAfter(ctx)) === (before ?? '')) {
    await dropBackup(ctx, backup)
    return 'the old table is back'
  }
  return before === null
    ? 'look at it: crontab -l'
    : `the old table could not be put back: it is in ${backup}, and crontab ${backup} installs it`
}

/**
 * Keeps the table beside the tick script, and the one before it where other people's lines have changed since. Where the
 * script is gone its folder may be too, and is not made again: the table is kept in the person's own folder, until it has
 * been changed. Returns the file.
 */
async function keepBackup(unit: Unit, ctx: SchedulerContext, table: string | null): Promise<string> {
  const isThere = (await ctx.readFile(unit.script)) !== null
  const file = isThere ? unit.script.replace(/[^/]*$/, 'crontab.backup') : passingBackup(ctx)
  if (table === null) return file
  const kept = await ctx.readFile(file, { encoding: 'latin1' })
  if (kept !== null && foreignPart(kept) !== foreignPart(table)) {
    await ctx.writeFile(`${file}.old`, Buffer.from(kept, 'latin1'))
  }
  if (kept !== table) await ctx.writeFile(file, Buffer.from(table, 'latin1'))
  return file
}

function passingBackup({ home }: SchedulerContext): string {
  return `${home}/crontab.backup-by-automaton`
}

async function dropBackup(ctx: SchedulerContext, backup: string): Promise<void> {
  if (backup === passingBackup(ctx)) await ctx.removeFile(backup)
}

/** True when it is certain that nothing reads the crontab. */
async function nobodyRunsIt(ctx: SchedulerContext): Promise<boolean> {
  try {
    const { exitCode } = await ctx.run(['pgrep', '-x', 'cron|crond|fcron'])
    if (exitCode !== 1) return false
    // Where the processes of other users are hidden, the daemon's own note tells.
    for (const file of ['/run/crond.pid', '/var/run/crond.pid']) {
      const pid = Number.parseInt((await ctx.readFile(file)) ?? '', 10)
      if (pid > 0 && (await ctx.readFile(`/proc/${pid}/comm`)) !== null) return false
    }
    return true
  } catch {
    return false
  }
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]?.slice(0, 300) || 'it said nothing'
}
