/*
 * How quickly the binary starts: `npm run build && bun bench/startup.ts [runs]`.
 *
 * Times differ from machine to machine, so each is shown as a ratio to a "hello" binary that this run builds itself.
 * The git commands that check-gate runs are written down, and then timed by themselves. Medians of interleaved runs.
 */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { recordGit } from './recorded-git.ts'

/** Something to time: a command line, or the git commands of one. */
interface Case {
  name: string
  /** The ratio that is aimed at; git's own part is added to check-gate's. */
  aim: number | null
  calls: { argv: string[]; cwd: string; env: Record<string, string>; stdin?: Buffer }[]
}

const runs = Math.max(15, Number(Bun.argv[2] ?? 25))
const windows = process.platform === 'win32'
const binary = join(import.meta.dir, '..', 'dist', windows ? 'automaton.exe' : 'automaton')
if (!existsSync(binary)) throw new Error(`${binary} is missing: npm run build`)
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'automaton-bench-')))
const repository = join(folder, 'work')
const bin = join(folder, 'bin')
const env = {
  PATH: `${bin}:${process.env.PATH ?? ''}`,
  HOME: folder,
  LANG: 'C.UTF-8',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
}

try {
  const hello = await buildHello()
  prepareRepository()
  const file = join(repository, '.automaton/loops/worked/worktree/src/a.ts')
  const own = (name: string, aim: number | null, argv: string[]): Case => ({
    name,
    aim,
    calls: [{ argv, cwd: repository, env }],
  })
  report(
    measure([
      own('hello', null, [hello]),
      own('--version', 2, [binary, '--version']),
      own('can-edit', 3, [binary, 'can-edit', 'src/a.ts']),
      own('can-edit in a loop', 3, [binary, 'can-edit', file, '--loop-worktree', 'worked']),
      ...gateCases('fresh', 'a loop that never ticked'),
      ...gateCases('worked', 'a loop with a worktree'),
      own('tick', null, [binary, 'tick', 'worked']),
    ]),
  )
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

/** Two loops whose gates open; one has ticked, with an agent that costs no time, and has a worktree. */
function prepareRepository(): void {
  mkdirSync(join(repository, 'src'), { recursive: true })
  mkdirSync(bin)
  const agent = `#!/bin/sh
case "$AUTOMATON_ROLE" in
  implement) echo x >>src/a.ts; echo done >"$AUTOMATON_OUTPUT" ;;
  *) echo '{"pass":false,"score":0,"reasons":["so"],"next_hint":"no"}' ;;
esac
`
  writeFileSync(join(bin, 'agent'), agent, { mode: 0o755 })
  writeFileSync(join(repository, 'src/a.ts'), 'export {}\n')
  writeFileSync(join(folder, 'brief.md'), 'Do it.\n')
  run(['git', 'init', '-q', '-b', 'main'])
  run(['git', 'add', '.'])
  run(['git', '-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', 'commit', '-q', '-m', 'x'])
  run([binary, 'create-task', 'fix', '--brief', join(folder, 'brief.md')])
  for (const name of ['fresh', 'worked']) {
    run([binary, 'create-loop', name, '--from-template', 'backlog'])
    const config = {
      schema_version: 1,
      name,
      work_source: { kind: 'backlog' },
      roles: { orchestrate: { mode: 'rules' } },
      brakes: { max_iterations: 100_000, score_plateau_window: 0 },
      harness: { command: ['agent'] },
    }
    writeFileSync(join(repository, '.automaton/loops', name, 'loop.json'), JSON.stringify(config))
  }
  run([binary, 'tick', 'worked'])
}

/** check-gate of a loop, and the git commands that it runs: they are written down once, and shown. */
function gateCases(loop: string, what: string): Case[] {
  const argv = [binary, 'check-gate', loop]
  const recorder = join(folder, `record-${loop}`)
  const read = recordGit(recorder)
  run(argv, { ...env, PATH: `${recorder}:${env.PATH}` })
  const calls = read()
  console.log(`git commands of check-gate for ${what}:`)
  for (const { shown } of calls) console.log(`  git ${shown.length > 100 ? `${shown.slice(0, 99)}…` : shown}`)
  console.log('')
  return [
    { name: `check-gate ${loop}`, aim: 2, calls: [{ argv, cwd: repository, env }] },
    { name: `  its ${calls.length} git commands`, aim: null, calls },
  ]
}

function run(argv: string[], environment: Record<string, string> = env): void {
  const result = Bun.spawnSync(argv, { cwd: repository, env: environment })
  if (result.exitCode !== 0) throw new Error(`${argv.join(' ')}: ${result.stderr.toString()}`)
}

/** Milliseconds by case. One run of each case after the other, so that a busy moment hits all of them. */
function measure(cases: readonly Case[]): Map<Case, number[]> {
  const times = new Map<Case, number[]>(cases.map((one) => [one, []]))
  for (let round = -1; round < runs; round++) {
    for (const [one, list] of times) {
      const start = Bun.nanoseconds()
      for (const { argv, ...options } of one.calls) {
        const { exitCode, stderr } = Bun.spawnSync(argv, options)
        // For git, 1 is an answer: there is no such branch, or there are differences.
        const isAnswer = exitCode === 0 || (exitCode === 1 && basename(argv[0] ?? '') === 'git')
        if (!isAnswer) throw new Error(`${argv.join(' ')}: ${stderr.toString()}`)
      }
      // The first round only warms the disk's cache.
      if (round >= 0) list.push((Bun.nanoseconds() - start) / 1e6)
    }
  }
  return times
}

function report(times: Map<Case, number[]>): void {
  const rows = [...times].map(([one, list]) => ({ ...one, ms: median(list) }))
  const hello = rows[0]?.ms ?? Number.NaN
  const columns = (name: string, ...cells: string[]) =>
    name.padEnd(24) + cells.map((cell) => cell.padStart(10)).join('')
  console.log(`medians of ${runs} runs\n\n${columns('case', 'ms', '× hello', 'aim, ms')}`)
  for (const [i, { name, aim, ms }] of rows.entries()) {
    const git = rows[i + 1]?.name.startsWith('  its') ? (rows[i + 1]?.ms ?? 0) : 0
    const goal = aim === null ? '' : (aim * hello + git).toFixed(1)
    console.log(columns(name, ms.toFixed(1), (ms / hello).toFixed(2), goal))
  }
}

function median(list: readonly number[]): number {
  return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? Number.NaN
}
