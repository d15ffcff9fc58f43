import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { SchedulerContext } from '../api/scheduler.ts'
import { AutomatonError, errors } from '../errors.ts'
import { ensureFolder, plainReason, readBytes, writeAtomic } from '../store/atomic.ts'
import { sessionEnv } from '../system/environment.ts'
import { exec } from '../system/exec.ts'
import { isWindows, userNumber } from '../system/platform.ts'
import { removeTree } from '../system/remove.ts'
import type { Deps } from './deps.ts'

/** What a scheduler plugin is called with. */
export interface SchedulerCall {
  loop: string
  /** The call comes from within a run that the unit itself started. */
  fromTick: boolean
}

/** What the calls touch; the project's root alone, so that a plugin can be checked outside of a project. */
export interface SchedulerDeps extends Pick<Deps, 'env' | 'progress' | 'signal'> {
  project: { root: string }
}

/** The machine as schedulers see it. */
export function schedulerContext(
  { loop, fromTick }: SchedulerCall,
  { project, env, progress, signal }: SchedulerDeps,
): SchedulerContext {
  return {
    loop,
    project: project.root,
    log: progress,
    signal,
    home: homedir(),
    user: userNumber,
    fromTick,
    async run(argv, options = {}) {
      const { stdin, timeoutSeconds = defaultSeconds, encoding = 'utf8' } = options
      // A table that is cut short because automaton died would be installed as it is.
      using input = stdin === undefined ? null : inputFile(stdin)
      const result = await exec({
        argv,
        cwd: homedir(),
        env: toolEnv(env, options.env ?? {}),
        timeoutMs: timeoutSeconds * 1000,
        encoding,
        signal,
        ...(input ? { stdinFile: input.path } : {}),
      }).catch((error) => missing(argv[0] ?? '', error))
      // Not masked: what is read here is compared, and written again with other people's lines in it.
      return {
        exitCode: result.exitCode,
        output: [result.stdout, result.stderr].filter((text) => text !== '').join('\n'),
        stdout: result.stdout,
        seconds: result.seconds,
        timedOut: result.ended === 'timeout',
      }
    },
    async readFile(path, { encoding = 'utf8' } = {}) {
      try {
        return readBytes(path, longest)?.toString(encoding) ?? null
      } catch (error) {
        throw errors.readFailed(path, plainReason(error), error)
      }
    },
    async writeFile(path, data, { mode = 0o600 } = {}) {
      ensureFolder(dirname(path))
      writeAtomic(path, data, mode)
    },
    async removeFile(path) {
      try {
        rmSync(path, { force: true })
      } catch (error) {
        throw errors.writeFailed(path, plainReason(error), error)
      }
    },
  }
}

const defaultSeconds = 30
const longest = 1 << 20
const usualFolders = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
/** How the user's own service manager is reached. */
const managers = ['DBUS_SESSION_BUS_ADDRESS']

function missing(program: string, error: unknown): never {
  const isMissing = error instanceof AutomatonError && error.code === 'command_not_found'
  throw isMissing ? errors.schedulerMissing(program) : error
}

function inputFile(data: string | Uint8Array): { path: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'automaton-input-'))
  const path = join(folder, 'input')
  writeFileSync(path, data, { mode: 0o600 })
  return { path, [Symbol.dispose]: () => removeTree(folder) }
}

function toolEnv(env: Deps['env'], more: Readonly<Record<string, string>>): Record<string, string> {
  const known = sessionEnv({ env, allowed: managers, extra: { ...more, LC_ALL: 'C' } })
  if (isWindows) return known
  return { ...known, PATH: [known.PATH, ...usualFolders].filter(Boolean).join(':') }
}
