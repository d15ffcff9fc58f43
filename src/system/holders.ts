import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, sep } from 'node:path'

/**
 * Whether a program of this name works in a folder, by its working directory. Where the system does not tell working
 * directories, any process of the name counts, so that the answer errs on the side of "yes".
 */
export function runsIn(program: string, folder: string): boolean {
  return process.platform === 'linux' ? linux(program, folder) : elsewhere(program)
}

function linux(program: string, folder: string): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      const name = readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
      if (name !== program && !name.startsWith(`${program}-`)) return false
      const cwd = readlinkSync(`/proc/${pid}/cwd`)
      return cwd === folder || cwd.startsWith(folder + sep)
    } catch {
      // It ended meanwhile, or is another user's.
      return false
    }
  })
}

function elsewhere(program: string): boolean {
  // Windows refuses to remove a file that a process has open.
  if (process.platform === 'win32') return false
  const run = Bun.spawnSync(['/bin/ps', '-A', '-o', 'comm='], { stdin: 'ignore' })
  return run.stdout
    .toString()
    .split('\n')
    .some((line) => basename(line.trim()) === program)
}
