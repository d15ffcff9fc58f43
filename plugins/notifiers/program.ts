/**
 * The file that a program's name means: one in an absolute folder of `path`, or the absolute path that it is. Other folders
 * mean whatever lies where the tick was started, which may be a session's. Null when there is none.
 */
export function programFile(
  name: string,
  path: string,
  o: { windows: boolean; exists?: typeof isThere },
): string | null {
  const { windows, exists = isThere } = o
  if (windows) return windowsProgram(name, path, exists)
  if (name.includes('/')) return name.startsWith('/') && exists(name) ? name : null
  const folders = path.split(':').filter((folder) => folder.startsWith('/'))
  return folders.map((folder) => `${folder.replace(/\/$/, '')}/${name}`).find(exists) ?? null
}

/**
 * The file that a program's name means on Windows, where the system itself would look in the working folder first, and a
 * session could have put one there. Scripts are passed over: the command interpreter would read what they are given.
 * Null when no absolute folder of `path` has it.
 */
function windowsProgram(name: string, path: string, exists: typeof isThere): string | null {
  const names = /\.(?:exe|com)$/i.test(name) ? [name] : [`${name}.exe`, `${name}.com`]
  if (/^[a-z]:[\\/]/i.test(name)) return names.find(exists) ?? null
  if (/[\\/:]/.test(name)) return null
  const folders = path.split(';').filter((folder) => /^[a-z]:[\\/]/i.test(folder))
  const files = folders.flatMap((folder) => names.map((file) => `${folder.replace(/[\\/]$/, '')}\\${file}`))
  return files.find(exists) ?? null
}

/** Whether a program lies in a folder. Windows has two signs between names, and takes letters of both cases for the same. */
export function liesIn(program: string, folder: string, windows: boolean): boolean {
  const plain = (path: string) => (windows ? path.replaceAll('\\', '/').toLowerCase() : path)
  return plain(program).startsWith(`${plain(folder)}/`)
}

function isThere(file: string): boolean {
  return Bun.file(file).size > 0
}
