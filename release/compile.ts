import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BuildOutput } from 'bun'
import { simpleGit } from './simple-git.ts'

/** The repository's root. */
export const root = join(import.meta.dir, '..')

/** What one binary is made of. */
export interface CompileOptions {
  outfile: string
  /** The addon of simple-git for the target, or null: then the binary says that it has none. */
  addon: string | null
  /**
   * Another system, and its Bun; without the second Bun fetches it itself. Absent: this system, and the Bun that runs the
   * build.
   */
  target?: { name: Bun.Build.CompileTarget; runtime?: string }
}

/**
 * Compiles automaton into one binary.
 *
 * The binary must start the same in every folder, so nothing is loaded from where it is started: no `.env`, no
 * `bunfig.toml`, no `tsconfig.json`, no `package.json`. Chunks and bytecode keep the start short: a verb loads
 * only what it uses.
 */
export async function compile({ outfile, addon, target }: CompileOptions): Promise<BuildOutput> {
  return Bun.build({
    entrypoints: [join(root, 'src', 'main.ts')],
    root,
    target: 'bun',
    format: 'esm',
    splitting: true,
    bytecode: true,
    metafile: true,
    minify: { whitespace: true, syntax: true },
    define: { AUTOMATON_VERSION: JSON.stringify(version()) },
    plugins: [simpleGit(addon)],
    compile: {
      outfile,
      ...(target && { target: target.name }),
      ...(target?.runtime !== undefined && { executablePath: target.runtime }),
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
      // Compiling code that runs once or twice is wasted. What runs ten times as often is compiled all the same.
      jitPolicy: 10,
    },
    throw: false,
  })
}

/** The version is the first `version:` line of config.md. Throws where there is none. */
export function version(): string {
  const found = /^version:\s*(\S+)/m.exec(readFileSync(join(root, 'config.md'), 'utf8'))?.[1]
  if (!found) throw new Error('config.md has no "version:" line')
  return found
}
