import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { root, version } from './compile.ts'
import { lockFile } from './lock-file.ts'
import { type Made, makeTarget, sha256 } from './make.ts'
import { fetchPackages } from './packages.ts'
import { sbom } from './sbom.ts'
import { type Target, targetNames, targets } from './targets.ts'

/**
 * Makes a release: `bun run release [--out DIR] [--target NAME]…`, by default every target into `dist/release`.
 *
 * One archive a target, `SHA256SUMS`, `automaton.cdx.json` (what is in them, CycloneDX) and `release.json` (what there is),
 * and the installers, which take what they need from the folder or address that they are in. The same commit gives the same bytes, in any folder.
 */
const { values } = parseArgs({
  options: { out: { type: 'string' }, target: { type: 'string', multiple: true } },
})
const out = resolve(values.out ?? join(root, 'dist', 'release'))
const chosen = (values.target ?? targetNames).map(targetNamed)
const pinned = lockFile()
const { commit, time } = source()
const needed = [...new Set(chosen.flatMap(({ runtime, addon }) => [runtime, addon]))].sort()
const scratch = mkdtempSync(join(tmpdir(), 'automaton-release-'))
try {
  mkdirSync(out, { recursive: true })
  const packages = fetchPackages(needed.map(pinned), scratch)
  const made: Made[] = []
  // Two at a time: compressing one takes as long as compiling the next.
  for (let first = 0; first < chosen.length; first += 2) {
    const pair = chosen.slice(first, first + 2)
    made.push(...(await Promise.all(pair.map((target) => makeOne(target, packages)))))
  }
  writeLists(made)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function makeOne(target: Target, packages: ReadonlyMap<string, string>): Promise<Made> {
  const folder = join(scratch, target.name)
  mkdirSync(folder)
  const made = await makeTarget(target, { packages, pinned, folder, out, time })
  rmSync(folder, { recursive: true })
  const { file, size } = made
  process.stdout.write(`${file.name.padEnd(36)} ${megabytes(file.bytes)}, unpacked ${megabytes(size)}\n`)
  return made
}

function writeLists(made: readonly Made[]): void {
  const files = made.map(({ file }) => file)
  const perTarget = needed.map((name) => ({ ...pinned(name), targets: usersOf(name) }))
  const bundled = [...new Set(made.flatMap((one) => one.bundled))].sort().map(pinned)
  const bill = json(sbom({ version: version(), commit, time, bundled, perTarget }))
  writeFileSync(join(out, 'automaton.cdx.json'), bill)
  writeFileSync(join(out, 'release.json'), json({ version: version(), commit, files }))
  const scripts = ['install.ps1', 'install.sh'].map((name) => ({
    name,
    text: readFileSync(join(root, name)),
  }))
  for (const { name, text } of scripts) writeFileSync(join(out, name), text)
  const sums = [
    ...files,
    { name: 'automaton.cdx.json', sha256: sha256(Buffer.from(bill)) },
    ...scripts.map(({ name, text }) => ({ name, sha256: sha256(text) })),
  ]
  writeFileSync(join(out, 'SHA256SUMS'), sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''))
}

function usersOf(name: string): string[] {
  return chosen
    .filter(({ runtime, addon }) => runtime === name || addon === name)
    .map((target) => target.name)
}

function targetNamed(name: string): Target {
  const found = targetNames.find((known) => known === name)
  if (!found) throw new Error(`there is no target ${name}; there are ${targetNames.join(', ')}`)
  return targets[found]
}

/** The commit that is built, and its time: `-dirty` says that files differ from it. */
function source(): { commit: string; time: number } {
  const [commit = '', time = ''] = git('log', '-1', '--format=%H %ct').split(' ')
  const changed = git('status', '--porcelain', '--untracked-files=no') !== ''
  return { commit: changed ? `${commit}-dirty` : commit, time: Number(time) }
}

function git(...args: string[]): string {
  const run = Bun.spawnSync(['git', ...args], { cwd: root, stderr: 'inherit' })
  if (run.exitCode !== 0) throw new Error(`git ${args.join(' ')} ended with ${run.exitCode}`)
  return run.stdout.toString().trim()
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
