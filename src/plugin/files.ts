import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { realPath } from '../system/real-path.ts'
import { isInWorktree } from '../system/worktree-path.ts'

/** A user's plugin as it lies on the disk. */
export interface PluginFile {
  /** Its file in a plugin folder; trust is recorded for this path. */
  file: string
  /** The same without links. */
  real: string
  /** What it is called until it has said its name: the file's name, or its folder's. */
  stem: string
  /** Its test beside it, or null. */
  test: string | null
}

const source = /^[^.].*\.(?:ts|js|mjs)$/
const notPlugin = /\.(?:d|test)\.(?:ts|js|mjs)$/

/** The folders that plugins are loaded from, in the order of loading. Never one inside a loop's worktree: a session wrote what is there. */
export function pluginFolders(home: string, automaton: string | null): string[] {
  const folders = [join(home, 'plugins'), ...(automaton === null ? [] : [join(automaton, 'plugins')])]
  return folders.filter((folder) => existsSync(folder) && !isInWorktree(realPath(folder)))
}

/** The plugins of a folder by name: files, and folders with an index file. Tests and declarations are none. */
export function findPlugins(folder: string): PluginFile[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => pluginAt(join(folder, name)) ?? [])
}

/** The plugin that a path means, a file or a folder; null for what is none. */
export function pluginAt(path: string): PluginFile | null {
  const name = basename(path)
  if (name.startsWith('.') || name === 'node_modules') return null
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat?.isDirectory()) {
    const index = ['index.ts', 'index.js', 'index.mjs'].map((file) => join(path, file)).find(isFile)
    return index ? describe(index, name) : null
  }
  if (!stat?.isFile() || !source.test(name) || notPlugin.test(name)) return null
  return describe(path, name.replace(/\.[^.]+$/, ''))
}

function describe(file: string, stem: string): PluginFile {
  const test = file.replace(/\.(ts|js|mjs)$/, '.test.$1')
  return { file, real: realPath(file), stem, test: isFile(test) ? test : null }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
}
