import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve, sep } from 'node:path'
import type { App } from '../app.ts'
import { setNumber } from '../config/json-edit.ts'
import { errors } from '../errors.ts'
import type { LoopConfig } from '../machine/config.ts'
import { scriptEnv } from '../runner/script-env.ts'
import { cmdScript, shellScript } from '../runner/tick-script.ts'
import { readBounded, writeAtomic } from '../store/atomic.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { isWindows } from '../system/platform.ts'
import { which } from '../system/process.ts'
import { realDestination as real } from '../system/real-path.ts'
import { isInWorktree } from '../system/worktree-path.ts'

/** What the loop's tick script should say, and what a person should know about it. */
export interface WantedScript {
  text: string
  warnings: string[]
}

/**
 * Makes the text of the tick script from where this automaton is and what its environment is now. Throws `usage` for a
 * path that no script can name, and for a program in a worktree.
 */
export function wantedScript(app: App, places: LoopPlaces, config: LoopConfig): WantedScript {
  const { root } = app.project()
  const [program = '', ...more] = app.self
  for (const path of [program, root, places.scheduledLog]) {
    if (/\p{Cc}/u.test(path)) {
      throw errors.usage(
        'no schedule',
        `the path ${JSON.stringify(path)} has a control character`,
        'rename it',
      )
    }
  }
  const own = real(dirname(program))
  // Whoever starts the program of a session lets that session decide what ticks do.
  if (isInWorktree(own)) {
    throw errors.usage(
      `no schedule (${program})`,
      'this program lies in the worktree of a loop, where sessions can replace it',
      'sh install.sh, then run the installed automaton',
    )
  }
  const isTheirs = (folder: string) => {
    const path = real(resolve(folder))
    return isInWorktree(path) || (path !== own && isWithin(path, real(root)))
  }
  const { env, dropped } = scriptEnv({
    env: app.env,
    home: app.env.HOME ?? homedir(),
    isTheirs,
    isWindows,
  })
  const make = isWindows ? cmdScript : shellScript
  return {
    text: make({
      loop: places.name,
      project: root,
      self: [program, ...more],
      env,
      passed: config.harness.env,
      log: places.scheduledLog,
    }),
    warnings: [
      ...dropped.map(
        (folder) => `left out of the PATH of scheduled ticks, since sessions can write there: ${folder}`,
      ),
      ...missingAgent(config, env.PATH ?? ''),
    ],
  }
}

/** Writes the script where it is not there as it should be. Returns what changed, in words. */
export function writeScript(places: LoopPlaces, text: string): string[] {
  if (scriptText(places) === text && (isWindows || modeOf(places.script) === 0o700)) return []
  writeAtomic(places.script, text, 0o700)
  return [places.script]
}

/** The script that is there; null for none, and for what cannot be read. */
export function scriptText(places: LoopPlaces): string | null {
  try {
    return readBounded(places.script, 1 << 20)
  } catch {
    return null
  }
}

/** Writes the interval into `loop.json`, and leaves all else there as people wrote it. Returns what changed, in words. */
export function writeInterval(places: LoopPlaces, config: LoopConfig, seconds: number): string[] {
  if (config.schedule.interval_seconds === seconds) return []
  const text = readBounded(places.config, 1 << 20) ?? ''
  const edited = setNumber(text, { section: 'schedule', key: 'interval_seconds' }, seconds)
  writeAtomic(places.config, edited, modeOf(places.config))
  return [`schedule.interval_seconds of ${places.config}`]
}

function missingAgent({ harness }: LoopConfig, path: string): string[] {
  const [program] = harness.command ?? []
  if (program === undefined || which(program, path) !== null) return []
  return [`${program} is in no folder of the PATH that scheduled ticks have`]
}

function modeOf(file: string): number {
  return (statSync(file, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
