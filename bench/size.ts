/*
 * What the binary weighs, part by part: `bun bench/size.ts`. It builds one for this system, and shows what Bun, the addon of
 * simple-git and automaton take of it, and which packages and rooms automaton's own code comes from.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compile } from '../release/compile.ts'
import { installedAddon } from '../release/simple-git.ts'

const folder = mkdtempSync(join(tmpdir(), 'automaton-size-'))
try {
  const outfile = join(folder, 'automaton')
  const addon = installedAddon()
  const built = await compile({ outfile, addon })
  if (!built.success || !built.metafile) throw new Error(built.logs.map(String).join('\n'))
  const sources = codeByPlace(built.metafile)
  const whole = statSync(outfile).size
  const bun = statSync(process.execPath).size
  const library = addon === null ? 0 : statSync(addon).size
  const code = [...sources.values()].reduce((sum, bytes) => sum + bytes, 0)
  show('the binary', whole)
  show('  Bun', bun)
  show('  the addon of simple-git', library)
  show('  automaton as JavaScript', code)
  show('  the same, compiled ahead, and what holds it', whole - bun - library - code)
  process.stdout.write('\nof the JavaScript:\n')
  for (const [place, bytes] of [...sources].sort((a, b) => b[1] - a[1]).slice(0, 15))
    show(`  ${place}`, bytes)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Bytes in the bundle by npm package, or by room of the repository. */
function codeByPlace({ outputs }: NonNullable<Awaited<ReturnType<typeof compile>>['metafile']>) {
  const sizes = new Map<string, number>()
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      if (path.endsWith('.node')) continue
      const place =
        /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path.split('/').slice(0, 2).join('/')
      sizes.set(place, (sizes.get(place) ?? 0) + bytesInOutput)
    }
  }
  return sizes
}

function show(what: string, bytes: number): void {
  process.stdout.write(`${what.padEnd(48)} ${(bytes / 1e6).toFixed(2).padStart(8)} MB\n`)
}
