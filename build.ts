import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { BunPlugin } from 'bun'

/**
 * Builds the one binary: `bun build.ts [outfile [target]]`, by default `dist/automaton` for this platform. A target is one
 * of Bun's, such as `bun-windows-x64`; another system's binary is built without the addon.
 *
 * The binary must start the same in every folder, so nothing is loaded from where it is started: no `.env`, no
 * `bunfig.toml`, no `tsconfig.json`, no `package.json`. Chunks and bytecode keep the start short: a verb loads
 * only what it uses.
 */
const root = import.meta.dir
const outfile =
  Bun.argv[2] ?? join(root, 'dist', process.platform === 'win32' ? 'automaton.exe' : 'automaton')

const target = Bun.argv[3] as Bun.Build.CompileTarget | undefined

const built = await Bun.build({
  entrypoints: [join(root, 'src', 'main.ts')],
  target: 'bun',
  format: 'esm',
  splitting: true,
  bytecode: true,
  minify: { whitespace: true, syntax: true },
  define: { AUTOMATON_VERSION: JSON.stringify(versionOf(readFileSync(join(root, 'config.md'), 'utf8'))) },
  plugins: [simpleGit(target === undefined ? addonFile() : null)],
  compile: {
    outfile,
    ...(target === undefined ? {} : { target }),
    autoloadDotenv: false,
    autoloadBunfig: false,
    autoloadTsconfig: false,
    autoloadPackageJson: false,
    // Compiling code that runs once or twice is wasted. What runs ten times as often is compiled all the same.
    jitPolicy: 10,
  },
  throw: false,
})
for (const log of built.logs) process.stderr.write(`${String(log)}\n`)
if (!built.success) process.exit(1)
process.stdout.write(`${outfile}: ${(statSync(outfile).size / 1e6).toFixed(1)} MB\n`)

/** The version is the first `version:` line of config.md. */
function versionOf(config: string): string {
  const found = /^version:\s*(\S+)/m.exec(config)?.[1]
  if (!found) throw new Error('config.md has no "version:" line')
  return found
}

/** This platform's addon of simple-git, or null where npm has installed none. */
function addonFile(): string | null {
  for (const abi of ['', '-gnu', '-musl', '-msvc']) {
    try {
      return Bun.resolveSync(`@napi-rs/simple-git-${process.platform}-${process.arch}${abi}`, root)
    } catch {
      // not this one
    }
  }
  process.stderr.write('build: no simple-git addon for this platform: the git program will do its work\n')
  return null
}

/**
 * Replaces simple-git's own loader by the one addon. The loader would look at `NAPI_RS_NATIVE_LIBRARY_PATH` and at
 * the folder of the build machine, and load code from there.
 */
function simpleGit(addon: string | null): BunPlugin {
  const names = readFileSync(Bun.resolveSync('@napi-rs/simple-git', root), 'utf8').matchAll(
    /^module\.exports\.(\w+) =/gm,
  )
  const exported = [...names].map(([, name]) => `exports.${name} = addon.${name}`).join('\n')
  const load = addon
    ? `const addon = require(${JSON.stringify(addon)})\n${exported}`
    : 'throw new Error("this build has no simple-git addon")'
  return {
    name: 'simple-git',
    setup(build) {
      build.onResolve({ filter: /^@napi-rs\/simple-git$/ }, () => ({
        path: 'simple-git',
        namespace: 'addon',
      }))
      build.onLoad({ filter: /.*/, namespace: 'addon' }, () => ({ contents: load, loader: 'js' }))
    },
  }
}
