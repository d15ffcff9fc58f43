import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dir, '..', '..')

/** The file that holds what {@link moduleDeclarations} made. */
export const declarationsFile = join(root, 'templates', 'plugin', 'automaton.d.ts.txt')

const head = `// The module 'automaton' for editors; written by \`automaton plugins new\`, and not read by automaton.
// For the types of valibot and zx, install them anywhere above this file: \`npm i -D valibot zx\`.
declare module 'automaton' {
`

/** The declarations of src/api as one ambient module. `bun test/helpers/declarations.ts` writes them. */
export function moduleDeclarations(): string {
  const out = mkdtempSync(join(tmpdir(), 'automaton-types-'))
  try {
    const tsc = join(root, 'node_modules', '.bin', 'tsc')
    const settings = ['--declaration', '--emitDeclarationOnly', '--noEmit', 'false', '--outDir', out]
    const options = ['--ignoreConfig', '--strict', '--target', 'esnext', '--module', 'preserve']
    const more = ['--allowImportingTsExtensions', '--skipLibCheck', '--types', 'bun-types']
    const entry = join(root, 'src', 'api', 'index.ts')
    const run = spawnSync(tsc, [entry, ...settings, ...options, ...more], { cwd: root, encoding: 'utf8' })
    if (run.status !== 0) throw new Error(run.stdout + run.stderr)
    const names = readdirSync(out).filter((name) => name.endsWith('.d.ts') && name !== 'index.d.ts')
    const bodies = names.sort().map((name) => readFileSync(join(out, name), 'utf8'))
    const valibot = "import type { GenericSchema, InferOutput } from 'valibot'"
    const text = bodies.map((body) => body.replace(/^(?:import .*|export \{\};)\n/gm, '').trimEnd())
    const lines = [valibot, '', ...text.join('\n').split('\n')].map(plainLine)
    return `${head}${lines.join('\n')}\n}\n`
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

/** Two spaces a level, one level deeper, and no semicolon at the end of what is no comment. */
function plainLine(line: string): string {
  if (line === '') return ''
  const body = line.replace(/^(?: {4})+/, (found) => found.slice(found.length / 2))
  return `  ${/^\s*\/?\*/.test(body) ? body : body.replace(/;$/, '')}`
}

if (import.meta.main) writeFileSync(declarationsFile, moduleDeclarations())
