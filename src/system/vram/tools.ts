import { readdirSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { AutomatonError } from '../../errors.ts'
import type { Card } from '../../machine/cards.ts'
import { exec } from '../exec.ts'
import { isInside } from '../own-programs.ts'
import { which } from '../process.ts'
import { readSmall } from '../small-file.ts'

/** One way to find out about cards. */
export interface Probe {
  name: string
  look(tools: Tools): Promise<Look>
}

/** What a probe saw, and in words how it went. */
export interface Look {
  cards: Card[]
  outcome: string
}

/** What probes may touch; tests hand in their own. */
export interface Tools {
  /** A vendor's program; null where there is none. All calls of one program together may take five seconds. */
  program(name: string): ((args: string[]) => Promise<Said>) | null
  /** The text of a small file; null when it cannot be read. */
  read(file: string): string | null
  /** The names in a folder, sorted; none when it cannot be read. */
  list(folder: string): string[]
  /** Bytes of this machine's memory. */
  memory(): number | null
}

/** What a program printed on standard output, and why that does not count; null when it ended well. */
export interface Said {
  text: string
  failure: string | null
}

/** How the tools of a machine are made. */
export interface ToolsOptions {
  env: Readonly<Record<string, string | undefined>>
  platform: NodeJS.Platform
  /** Folders that sessions can write: no program is taken out of them, whatever PATH says. */
  avoid: readonly string[]
  signal?: AbortSignal
  /** Milliseconds for one program; default five seconds. */
  limitMs?: number
  /** Put before every path of a file; for tests. */
  root?: string
}

const toolLimitMs = 5000

/** Where vendors put their programs besides PATH, which under cron is short. All of these belong to the system. */
const places: Partial<Record<NodeJS.Platform, string[]>> = {
  linux: ['/usr/lib/wsl/lib', '/opt/rocm/bin'],
  darwin: ['/usr/sbin'],
}

/** The real machine. */
export function machineTools(o: ToolsOptions): Tools {
  const path = searchPath(o)
  const read = (file: string) => readSmall((o.root ?? '') + file)
  return {
    program(name) {
      const file = isAbsolute(name) ? which(name, '') : which(name, path)
      return file !== null && !isInside(file, o.avoid) ? caller(file, path, o) : null
    },
    read,
    list(folder) {
      try {
        return readdirSync((o.root ?? '') + folder).sort()
      } catch {
        return []
      }
    },
    memory() {
      const kilobytes = /^MemTotal:\s+(\d+) kB$/m.exec(read('/proc/meminfo') ?? '')?.[1]
      return kilobytes === undefined ? totalmem() : Number(kilobytes) * 1024
    },
  }
}

function caller(file: string, path: string, o: ToolsOptions): (args: string[]) => Promise<Said> {
  const limitMs = o.limitMs ?? toolLimitMs
  let leftMs = limitMs
  return async (args) => {
    const late = `it took longer than ${limitMs / 1000} seconds`
    if (leftMs <= 0) return { text: '', failure: late }
    const limits = { timeoutMs: leftMs, graceMs: 200, ...(o.signal ? { signal: o.signal } : {}) }
    try {
      // The root folder: what lies where the person stands must mean nothing to a vendor's program.
      const done = await exec({ argv: [file, ...args], cwd: rootOf(file), env: toolEnv(o, path), ...limits })
      leftMs -= done.seconds * 1000
      if (done.ended !== 'exit') return { text: '', failure: late }
      if (done.exitCode === 0) return { text: done.stdout, failure: null }
      // NVIDIA's says on standard output what went wrong.
      const why = firstLine(done.stderr) || firstLine(done.stdout)
      const how = `it ended with ${done.exitCode ?? done.signal}`
      return { text: done.stdout, failure: why === '' ? how : `${how}: ${why}` }
    } catch (error) {
      if (error instanceof AutomatonError) return { text: '', failure: error.message }
      throw error
    }
  }
}

/** Numbers are asked for as C writes them: elsewhere thousands have points and fractions commas. */
function toolEnv({ env }: ToolsOptions, path: string): Record<string, string> {
  const kept = ['HOME', 'SystemRoot', 'SystemDrive', 'ProgramFiles', 'TEMP', 'TMP', 'TMPDIR', 'USERPROFILE']
  const known = kept.flatMap((name): [string, string][] => {
    const value = env[name]
    return value === undefined ? [] : [[name, value]]
  })
  return { ...Object.fromEntries(known), PATH: path, LANG: 'C', LC_ALL: 'C' }
}

function searchPath({ env, platform, avoid }: ToolsOptions): string {
  const divider = platform === 'win32' ? ';' : ':'
  const system = platform === 'win32' ? [join(env.SystemRoot ?? 'C:\\Windows', 'System32')] : []
  const named = (env.PATH ?? env.Path ?? '').split(divider)
  const all = [...named, ...(places[platform] ?? []), ...system]
  return all.filter((folder) => isAbsolute(folder) && !isInside(folder, avoid)).join(divider)
}

function rootOf(file: string): string {
  return dirname(file) === file ? file : rootOf(dirname(file))
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]?.slice(0, 200) ?? ''
}
