/** True on Windows, where locks are share modes and files have no permission bits. */
export const isWindows = process.platform === 'win32'

/** This process's id. */
export const ownPid = process.pid

/** The user's number; null on Windows. */
export const userNumber = process.getuid?.() ?? null

/** What the system is called: `linux`, `darwin`, `win32`. */
export const systemName: string = process.platform
