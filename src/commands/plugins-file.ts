import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { findPlugins, type PluginFile, pluginFolders } from '../plugin/files.ts'
import { realPath } from '../system/real-path.ts'
import { isInWorktree } from '../system/worktree-path.ts'

/** The plugin that a person means: its file, its folder, or its file's name. Throws `bad_value` with the reason for what is none. */
export function pluginNamed(app: App, typed: string): PluginFile {
  const { home, automaton } = app.pluginPlaces()
  const path = resolve(app.cwd, typed)
  const real = existsSync(path) ? realPath(path) : null
  const known = pluginFolders(home, automaton).flatMap((folder) => findPlugins(folder))
  const found =
    known.find(({ file }) => file === path || dirname(file) === path) ??
    known.find((plugin) => plugin.real === real) ??
    known.find(({ stem }) => stem === typed)
  if (found) return found
  const folders = [join(home, 'plugins'), ...(automaton === null ? [] : [join(automaton, 'plugins')])]
  const fix = `put it into ${folders.join(' or ')}`
  const refuse = (why: string) => errors.badValue('not a plugin', typed, why, fix)
  if (real === null) throw refuse('there is no such file')
  if (isInWorktree(real)) throw refuse("it lies in a loop's worktree, where sessions write")
  throw refuse('a plugin is a .ts, .js or .mjs file, or a folder with such an index file, in a plugin folder')
}
