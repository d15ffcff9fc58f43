import { dirname } from 'node:path'
import type { App } from '../app.ts'
import { AutomatonError, errors } from '../errors.ts'
import type { PluginFile } from '../plugin/files.ts'
import { shown, userPlugin } from '../plugin/loader.ts'
import { peek } from '../plugin/peek.ts'
import { hashPlugin, readTrust, type TrustRecord, trustFile, trustText } from '../plugin/trust.ts'
import { ensureFolder, writeAtomic } from '../store/atomic.ts'
import { pluginNamed } from './plugins-file.ts'

/** What is trusted now. */
export interface TrustReport {
  file: string
  name: string
  /** null: it did not say. */
  role: string | null
  /** The files that it consists of, relative to its own folder. */
  files: string[]
  /** Its test, and what only that imports. */
  tests: string[]
  /** The origin of the plugin whose place it takes, or null. */
  replaces: string | null
  /** Why it cannot be used all the same, or null. */
  problem: { message: string; fix: string } | null
  /** What to type next. */
  next: string
}

/**
 * Writes down that a person trusts a plugin as it is now: the file, what it imports, and its test. Only then it is run,
 * to learn what it calls itself.
 */
export async function trustPlugin(app: App, typed: string): Promise<TrustReport> {
  const file = pluginNamed(app, typed)
  const fix = `correct it, then: automaton plugins trust ${shown(file.file)}`
  const { files, tests } = hashed(file, fix)
  const guess = peek(file)
  const first: TrustRecord = {
    file: file.file,
    name: guess.name ?? file.stem,
    role: guess.role,
    needs_options: false,
    files,
    tests,
    trusted_at: app.clock.iso(),
    by: app.terminal.describe().user,
  }
  write(app, first)
  const { record, problem } = await introduce(app, file, first)
  if (!problem) write(app, record)
  const host = await app.host()
  const listed = host.list().find(({ origin }) => origin === file.file)
  return {
    file: file.file,
    name: record.name,
    role: record.role,
    files: Object.keys(files).sort(),
    tests: Object.keys(tests).sort(),
    replaces: listed?.replaces ?? null,
    problem,
    next: problem?.fix ?? `automaton plugins check ${shown(file.file)}`,
  }
}

function hashed(file: PluginFile, fix: string) {
  try {
    return hashPlugin(file)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw errors.pluginFailed(file.stem, 'resolve', `${why} (${file.file})`, error, fix)
  }
}

function write(app: App, record: TrustRecord): void {
  const target = trustFile(app.home)
  ensureFolder(dirname(target))
  writeAtomic(target, trustText(readTrust(app.home), record), 0o600)
}

/** Loads the plugin once, for its own words about itself. */
async function introduce(
  app: App,
  file: PluginFile,
  found: TrustRecord,
): Promise<{ record: TrustRecord; problem: TrustReport['problem'] }> {
  const { child } = userPlugin({ ...app.pluginPlaces(), file, found })
  try {
    const { name, role, needsOptions } = await child.load()
    return { record: { ...found, name, role: role ?? null, needs_options: needsOptions }, problem: null }
  } catch (error) {
    if (!(error instanceof AutomatonError)) throw error
    return { record: found, problem: { message: error.message, fix: error.fix } }
  } finally {
    child.close()
  }
}
