import { release } from 'node:os'

/** True on Windows, where locks are share modes and files have no permission bits. */
export const isWindows = process.platform === 'win32'

/** This process's id. */
export const ownPid = process.pid

/** The user's number; null on Windows. */
export const userNumber = process.getuid?.() ?? null

/** What the system is called: `linux`, `darwin`, `win32`. */
export const systemName: string = process.platform

/** This system, its processor and its version, such as `linux x64 6.1.0`. */
export function systemDetails(): string {
  return `${process.platform} ${process.arch} ${release()}`
}
