/*
 * How quickly the binary starts: `npm run build && bun bench/startup.ts`.
 *
 * Times differ from machine to machine, so each is shown as a ratio to a "hello" binary that this run builds itself.
 * What check-gate pays git for is timed alone beside it. Medians of interleaved runs.
 */
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const runs = Math.max(15, Number(Bun.argv[2] ?? 25))
const binary = join(
  import.meta.dir,
  '..',
  'dist',
  process.platform === 'win32' ? 'automaton.exe' : 'automaton',
)
if (!existsSync(binary)) throw new Error(`${binary} is missing: npm run build`)
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'automaton-bench-')))
const repository = join(folder, 'work')
const env = {
  PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`,
  HOME: folder,
  LANG: 'C.UTF-8',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
}

try {
  const hello = await buildHello()
  prepareRepository()
  const file = join(repository, '.automaton/loops/nightly/worktree/src/a.ts')
  const cases: [name: string, argv: string[]][] = [
    ['hello', [hello]],
    ['--version', [binary, '--version']],
    ['can-edit', [binary, 'can-edit', 'src/a.ts']],
    ['can-edit in a loop', [binary, 'can-edit', file, '--loop-worktree', 'nightly']],
    ['check-gate', [binary, 'check-gate', 'nightly']],
    ['git of check-gate', ['git', 'rev-parse', '--verify', '--quiet', 'refs/heads/main^{commit}']],
  ]
  report(measure(cases))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The least that a compiled program does. */
async function buildHello(): Promise<string> {
  const source = join(folder, 'hello.ts')
  const outfile = join(folder, 'hello')
  writeFileSync(source, "console.log('hello')\n")
  const built = await Bun.build({
    entrypoints: [source],
    target: 'bun',
    format: 'esm',
    bytecode: true,
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  })
  if (!built.success) throw new AggregateError(built.logs)
  return outfile
}

/** A loop whose gate opens: it has its branch and a harness. */
function prepareRepository(): void {
  run(['mkdir', '-p', repository, join(folder, 'bin')], folder)
  writeFileSync(join(folder, 'bin', 'opencode'), '#!/bin/sh\n', { mode: 0o755 })
  run(['git', 'init', '-q', '-b', 'main'])
  run([
    'git',
    '-c',
    'user.name=Bench',
    '-c',
    'user.email=bench@localhost',
    'commit',
    '-q',
    '--allow-empty',
    '-m',
    'x',
  ])
  run([binary, 'create-loop', 'nightly', '--from-template', 'backlog'])
}

function run(argv: string[], cwd = repository): void {
  const result = Bun.spawnSync(argv, { cwd, env })
  if (result.exitCode !== 0) throw new Error(`${argv.join(' ')}: ${result.stderr.toString()}`)
}

/** Milliseconds by case. One run of each case after the other, so that a busy moment hits all of them. */
function measure(cases: readonly [name: string, argv: string[]][]): Map<string, number[]> {
  const times = new Map<string, number[]>()
  for (let round = -1; round < runs; round++) {
    for (const [name, argv] of cases) {
      const start = Bun.nanoseconds()
      run(argv)
      // The first round only warms the disk's cache.
      if (round >= 0) times.set(name, [...(times.get(name) ?? []), (Bun.nanoseconds() - start) / 1e6])
    }
  }
  return times
}

function report(times: Map<string, number[]>): void {
  const base = median(times.get('hello') ?? [])
  console.log(`medians of ${runs} runs\n\n${'case'.padEnd(20)}${'ms'.padStart(8)}${'× hello'.padStart(10)}`)
  for (const [name, list] of times) {
    const ms = median(list)
    console.log(`${name.padEnd(20)}${ms.toFixed(1).padStart(8)}${(ms / base).toFixed(2).padStart(10)}`)
  }
}

function median(list: readonly number[]): number {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN
}
