import { readFileSync, statSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, isAbsolute } from 'node:path'
import { realPath } from '../system/real-path.ts'
import { isInWorktree } from '../system/worktree-path.ts'

/** Modules that the binary serves. */
const served = ['automaton', 'valibot', 'zx']
const code = /\.(?:ts|mts|cts|js|mjs|cjs)$/
const data = /\.(?:json|txt|md)$/
const longest = 4 << 20
const most = 500

/**
 * A file and the files that it imports, those that these import, and so on: their bytes by path, without links. Throws a
 * plain error whose message says which import cannot be had. What is no valid code imports nothing: importing it will
 * say so.
 */
export function readWithImports(entry: string): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>()
  const open = [realPath(entry)]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue
    if (found.size >= most) throw new Error(`it imports more than ${most} files`)
    const bytes = read(file)
    found.set(file, bytes)
    for (const name of code.test(file) ? importsOf(file, bytes) : []) {
      const path = resolve(name, file)
      if (path !== null) open.push(path)
    }
  }
  return found
}

/** Reads a file that belongs to a plugin. Throws a plain error that says why it cannot be one. */
export function read(file: string): Uint8Array {
  const stat = statSync(file, { throwIfNoEntry: false })
  if (!stat?.isFile()) throw new Error(`${file} is missing`)
  if (stat.size > longest) throw new Error(`${file} is longer than 4 MiB`)
  if (isInWorktree(realPath(file))) throw new Error(`${file} lies in a loop's worktree, where sessions write`)
  return readFileSync(file)
}

function importsOf(file: string, bytes: Uint8Array): string[] {
  const loader = /\.[mc]?js$/.test(file) ? 'js' : 'ts'
  try {
    const imports = new Bun.Transpiler({ loader }).scanImports(Buffer.from(bytes).toString('utf8'))
    return imports.map(({ path }) => path)
  } catch {
    return []
  }
}

/** The file that an import means; null for a module that needs none. */
function resolve(name: string, from: string): string | null {
  if (!name.startsWith('.') && !isAbsolute(name)) {
    if (served.includes(name) || isBuiltin(name) || /^(?:bun|node)(?::|$)/.test(name)) return null
    const what = 'automaton, valibot, zx, modules of Node and Bun, and files by their relative path'
    throw new Error(`it imports ${JSON.stringify(name)}, and a plugin can import ${what}`)
  }
  let path: string
  try {
    path = realPath(Bun.resolveSync(name, dirname(from)))
  } catch {
    throw new Error(`it imports ${JSON.stringify(name)}, which is not there (${from})`)
  }
  if (!code.test(path) && !data.test(path))
    throw new Error(`it imports ${JSON.stringify(name)}, and files of its kind are not imported`)
  return path
}
