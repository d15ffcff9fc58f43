import { statSync } from 'node:fs'
import { join } from 'node:path'
import { compile, root } from './release/compile.ts'
import { installedAddon } from './release/simple-git.ts'

/**
 * Builds the one binary: `bun build.ts [outfile [target]]`, by default `dist/automaton` for this platform. A target is one
 * of Bun's, such as `bun-windows-x64`; another system's binary is built without the addon, as a quick look at it needs none.
 * What is handed out is made by `release/main.ts`, from the same options.
 */
const name = process.platform === 'win32' ? 'automaton.exe' : 'automaton'
const outfile = Bun.argv[2] ?? join(root, 'dist', name)
if (outfile.startsWith('-')) {
  process.stderr.write('usage: bun build.ts [outfile [target]]\n')
  process.exit(2)
}
const target = Bun.argv[3] as Bun.Build.CompileTarget | undefined
const addon = target === undefined ? installedAddon() : null
if (!addon) process.stderr.write('build: without the simple-git addon: the git program will do its work\n')

const built = await compile({ outfile, addon, ...(target === undefined ? {} : { target: { name: target } }) })
for (const log of built.logs) process.stderr.write(`${String(log)}\n`)
if (!built.success) process.exit(1)
process.stdout.write(`${outfile}: ${(statSync(outfile).size / 1e6).toFixed(1)} MB\n`)
