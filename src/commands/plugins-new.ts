import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../app.ts'
import { declarations, type SkeletonRole, skeleton, skeletonRoles } from '../assets/plugin-templates.ts'
import { errors } from '../errors.ts'
import { meantOf } from '../machine/nearest.ts'
import { shown } from '../plugin/loader.ts'
import { ensureFolder, writeAtomic } from '../store/atomic.ts'
import { checkName } from '../store/layout.ts'

/** What was written. */
export interface NewPluginReport {
  role: SkeletonRole
  name: string
  file: string
  test: string
  declarations: string
  /** The plugin of the same name that it will take the place of, or null. */
  replaces: string | null
  /** What to type next, in order. */
  next: string[]
}

/** Writes a working plugin, its test, and the declarations for an editor. Throws `exists` rather than touch a file. */
export async function newPlugin(
  app: App,
  { role, name, local }: { role: string; name: string; local: boolean },
): Promise<NewPluginReport> {
  const known = skeletonRoles.find((one) => one === role)
  if (!known) {
    const fix = `automaton plugins new ${skeletonRoles.join('|')} NAME`
    throw errors.usage(`unknown role (${role})`, meantOf(role, skeletonRoles), fix)
  }
  checkName('plugin', name)
  const folder = join(local ? app.project().automaton : app.home, 'plugins')
  const taken = ['.ts', '.js', '.mjs', '.test.ts', ''].map((end) => join(folder, name + end)).find(existsSync)
  if (taken) throw errors.exists('plugin', taken, 'choose another name, or move the file away')
  const host = await app.host()
  const replaced =
    known === 'hooks' ? undefined : host.list().find((one) => one.name === name && one.role === known)
  ensureFolder(folder)
  const file = join(folder, `${name}.ts`)
  const test = join(folder, `${name}.test.ts`)
  const types = join(folder, 'automaton.d.ts')
  const texts = skeleton(known, name)
  writeAtomic(types, declarations)
  writeAtomic(test, texts.test)
  writeAtomic(file, texts.plugin)
  const next = [`automaton plugins trust ${shown(file)}`, `automaton plugins check ${shown(file)}`]
  return { role: known, name, file, test, declarations: types, replaces: replaced?.origin ?? null, next }
}
