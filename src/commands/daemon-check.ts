import { resolve } from 'node:path'
import type { App } from '../app.ts'
import { type ExitCode, exitCodes } from '../errors.ts'
import { type DaemonStatus, readDaemonStatus } from '../store/daemon-status.ts'

/** How a daemon is, by its status file. */
export interface DaemonCheck {
  healthy: boolean
  /** Why it is not; null when it is. */
  why: string | null
  status: DaemonStatus | null
}

/** It writes at least every 10 seconds. */
const longestSilenceMs = 60_000

/** Looks whether the daemon that writes the file still does; exit 3 when it does not. For the health check of a container. */
export function checkDaemon(app: App, statusFile: string): { report: DaemonCheck; exit: ExitCode } {
  const status = readDaemonStatus(resolve(app.cwd, statusFile))
  const why = status ? silence(status, app.clock.now()) : 'no daemon has written there'
  return { report: { healthy: why === null, why, status }, exit: why === null ? exitCodes.ok : 3 }
}

function silence({ at }: DaemonStatus, now: Date): string | null {
  const ms = now.getTime() - Date.parse(at)
  // A clock that was set back says nothing about the daemon.
  return ms <= longestSilenceMs ? null : `the daemon has written nothing for ${Math.round(ms / 1000)} s`
}
