import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { automaton, type Call, type CallOptions } from './cli.ts'
import { type Files, git, makeRepo, writeFiles } from './repo.ts'
import { tempDir } from './temp.ts'

const agent = join(import.meta.dir, '..', 'fixtures', 'bin', 'scripted-agent')

/** Shell scripts by role (`implement`) or by role and turn (`verify-2`). */
export type Scenario = Record<string, string>

/** A well-behaved agent: changes a file in scope, passes everything, moves the task on. */
export const goodAgent: Scenario = {
  implement: [
    'echo "work of $AUTOMATON_PHASE" >> src/work.txt',
    'case $AUTOMATON_PHASE in',
    '  code_review) v="Verdict: PASS";; bug_hunt) v="Verdict: CLEAN";; referee) v="Verdict: APPROVED";; *) v="";;',
    'esac',
    'printf "Did the work.\\n%s\\n" "$v" > "$AUTOMATON_OUTPUT"',
  ].join('\n'),
  verify: `echo '{"pass": true, "score": 0.9, "reasons": ["fine"], "next_hint": "go on"}'`,
  orchestrate: [
    'case $AUTOMATON_PHASE in',
    '  implement) to=code_review;; code_review) to=bug_hunt;; bug_hunt) to=adversarial_review;;',
    '  adversarial_review) to=referee;; referee) to=complete;;',
    'esac',
    'automaton transition "$AUTOMATON_TASK" "$to" --reason "verdict passed"',
  ].join('\n'),
}

/** What a test's project is made of. */
export interface ProjectOptions {
  files?: Files
  scenario?: Scenario
  /** Merged into loop.json, one level of each section deep. */
  loop?: Record<string, Record<string, unknown> | unknown[] | string>
  /** Default `backlog`. */
  template?: string
  loopName?: string
  /** The repository's folder name below the test's temporary folder. */
  folder?: string
  /** Options of create-loop besides the template. */
  createArgs?: string[]
  /** Without a task when false. */
  task?: boolean
  /** A folder without git when false. */
  git?: boolean
}

/** A project with one loop, its scripted agent, and the calls that a person would make. */
export interface TestProject extends Disposable {
  root: string
  home: string
  loop: string
  loopDir: string
  worktree: string
  scenarioDir: string
  call(args: string[], options?: Partial<CallOptions>): Promise<Call>
  tick(...args: string[]): Promise<Call>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON files freely
  state(): any
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON files freely
  task(name?: string): any
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON files freely
  log(): any[]
  script(scenario: Scenario): void
  configure(loop: NonNullable<ProjectOptions['loop']>): void
  git(...args: string[]): string
}

/** Makes a repository, a task and a loop by the commands that a person types. */
export async function makeProject(options: ProjectOptions = {}): Promise<TestProject> {
  const dir = tempDir()
  const root = join(dir.path, options.folder ?? 'repo')
  const home = join(dir.path, 'home')
  const files = options.files ?? { 'README.md': '# test\n', 'src/work.txt': 'start\n' }
  if (options.git === false) writeFiles(root, files)
  else makeRepo(root, files)
  const scenarioDir = join(dir.path, 'scenario')
  mkdirSync(scenarioDir)
  const loop = options.loopName ?? 'nightly'
  const loopDir = join(root, '.automaton', 'loops', loop)
  const project: TestProject = {
    root,
    home,
    loop,
    loopDir,
    worktree: join(loopDir, 'worktree'),
    scenarioDir,
    call: (args, extra) => automaton(args, { cwd: root, home, ...extra }),
    tick: (...args) => project.call(['tick', loop, ...args]),
    state: () => JSON.parse(readFileSync(join(loopDir, '.state.loop'), 'utf8')),
    task: (name = 'fix-it') =>
      JSON.parse(readFileSync(join(root, '.automaton', 'tasks', name, '.state'), 'utf8')),
    log: () =>
      readFileSync(join(loopDir, '.state.log'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    script(scenario) {
      for (const [name, text] of Object.entries(scenario)) {
        writeFileSync(join(scenarioDir, `${name}.sh`), `${text}\n`)
      }
    },
    configure: (loopChanges) => merge(join(loopDir, 'loop.json'), loopChanges),
    git: (...args) => git(root, ...args),
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  }
  project.script({ ...goodAgent, ...options.scenario })
  // Whatever memory the machine of this test has must not decide how it ends.
  writeFiles(home, { '.automaton/config.md': 'backend: remote\n' })
  if (options.task !== false) {
    const args = ['create-task', 'fix-it', '--brief', '-', '--project', root]
    await must(project.call(args, { stdin: 'Fix it, please.\n' }))
  }
  await must(
    project.call([
      'create-loop',
      loop,
      '--from-template',
      options.template ?? 'backlog',
      ...(options.createArgs ?? []),
    ]),
  )
  project.configure({
    harness: { command: [agent, scenarioDir], timeout_seconds: 30, idle_seconds: 20, writes: [scenarioDir] },
    // Most tests are about what is noticed; those about what is prevented ask for a sandbox.
    blast_radius: { sandbox: 'off' },
  })
  if (options.loop) project.configure(options.loop)
  return project
}

/** Waits for a call that has to succeed. */
export async function must(call: Promise<Call>): Promise<Call> {
  const done = await call
  if (done.code !== 0) throw new Error(`exit ${done.code}\n${done.stdout}\n${done.stderr}`)
  return done
}

function merge(file: string, changes: Record<string, unknown>): void {
  if (!existsSync(file)) throw new Error(`${file} is missing`)
  const config = JSON.parse(readFileSync(file, 'utf8'))
  for (const [key, value] of Object.entries(changes)) {
    const section = config[key]
    const both = isSection(section) && isSection(value)
    config[key] = both ? { ...section, ...value } : value
  }
  writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`)
}

function isSection(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
