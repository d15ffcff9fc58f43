import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from '../helpers/cli.ts'
import { makeProject, type ProjectOptions, type TestProject } from '../helpers/project.ts'

const fakes = join(import.meta.dir, '..', 'fixtures', 'cron')

/** A project whose user has a crontab of their own, in a file. */
export interface CronProject extends TestProject {
  /** The table; null: there is none. */
  table(): string | null
  setTable(text: string): void
  /** Shell code that the crontab runs before anything else; '' takes it away. */
  fault(code: string): void
  /** Runs the tick as cron does: the command of the table's line, by /bin/sh, with hardly any environment. */
  asCron(): Promise<Call>
  /** What automaton calls with the pretended crontab first on PATH. */
  env: Record<string, string>
  script: TestProject['script']
  scriptFile: string
  scheduledLog(): string
}

/** Makes a project whose calls find the pretended crontab. */
export async function cronProject(options: ProjectOptions = {}): Promise<CronProject> {
  const project = await makeProject(options)
  const file = join(project.home, 'crontab')
  const faultFile = join(project.home, 'crontab-fault')
  const env = { PATH: `${fakes}:${process.env.PATH}` }
  const log = join(project.loopDir, 'scheduled.log')
  mkdirSync(project.home, { recursive: true })
  return {
    ...project,
    env,
    call: (args, more) => project.call(args, { ...more, env: { ...env, ...more?.env } }),
    tick: (...args) => project.call(['tick', project.loop, ...args], { env }),
    table: () => (existsSync(file) ? readFileSync(file, 'latin1') : null),
    setTable: (text) => writeFileSync(file, text, 'latin1'),
    fault: (code) => writeFileSync(faultFile, `${code}\n`),
    scriptFile: join(project.loopDir, 'automaton-loop-tick.sh'),
    scheduledLog: () => (existsSync(log) ? readFileSync(log, 'utf8') : ''),
    async asCron() {
      const line = readFileSync(file, 'latin1')
        .split('\n')
        .find((one) => one.includes('# automaton-loop:'))
      const command = line?.split(' ').slice(5).join(' ').replaceAll('\\%', '%') ?? 'false'
      return run(['/bin/sh', '-c', Buffer.from(command, 'latin1').toString()], project.home)
    },
  }
}

async function run(argv: string[], home: string): Promise<Call> {
  const env = { HOME: home, LOGNAME: 'test', SHELL: '/bin/sh', PATH: '/usr/bin:/bin' }
  const child = Bun.spawn(argv, { env, cwd: home, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr, json: () => JSON.parse(stdout) }
}
