import { lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Role, SessionUsage } from '../api/harness.ts'
import { readBounded } from '../store/atomic.ts'
import { realPath } from '../system/real-path.ts'
import { removeTree } from '../system/remove.ts'
import { runFolder } from '../system/snapshot.ts'

const paperLimit = 4 << 20

/** The files that a session and automaton pass to each other, in the one folder that every agent may write. */
export interface Papers {
  folder: string
  output: string
  cost: string
  intent: string
}

/** What a session left in its papers; null for what it did not write. */
export interface Harvest {
  output: string | null
  cost: string | null
  /** Orchestrate only. */
  intent: string | null
}

/** Makes the folder anew, so that nothing planted there before the session is ever read. */
export function preparePapers(cwd: string, role: Role): Papers {
  const folder = join(cwd, runFolder)
  removeTree(folder)
  mkdirSync(folder, { mode: 0o700 })
  writeFileSync(join(folder, '.gitignore'), '*\n', { mode: 0o600 })
  return {
    folder,
    output: join(folder, `${role}.md`),
    cost: join(folder, 'cost.json'),
    intent: join(folder, 'intent.json'),
  }
}

/** Reads the papers, following no links. What cannot be read is a warning. */
export function readPapers(papers: Papers, role: Role, warnings: string[]): Harvest {
  const isOwn = isReal(papers.folder)
  if (!isOwn)
    warnings.push(`ignored ${basename(papers.folder)}: it is not the folder that the session was given`)
  const read = (file: string) => (isOwn ? readPaper(file, warnings) : null)
  return {
    output: read(papers.output),
    cost: read(papers.cost),
    intent: role === 'orchestrate' ? read(papers.intent) : null,
  }
}

/** Takes the folder away. Through a link on the way it would be somebody else's that goes. */
export function removePapers({ folder }: Papers): void {
  if (isReal(folder)) removeTree(folder)
}

/** What the agent's CLI wrote about itself, by the file's name in the papers' folder; null when it wrote nothing. */
export function readReport(papers: Papers, name: string, warnings: string[]): string | null {
  return isReal(papers.folder) ? readPaper(join(papers.folder, name), warnings) : null
}

/**
 * Joins what the harness reported with the session's cost file (`{"usd":x,"tokens":n}`), which is the session's own word:
 * it can raise what was reported, never lower it.
 */
export function mergeUsage(reported: SessionUsage, cost: string | null, warnings: string[]): SessionUsage {
  const own = cost === null ? {} : parseCost(cost, warnings)
  return { usd: larger(reported.usd, own.usd), tokens: larger(reported.tokens, own.tokens) }
}

/** Whether a session left the folder where it was: a link in its place leads to files that are none of the session's. */
function isReal(folder: string): boolean {
  try {
    return realPath(folder) === folder && lstatSync(folder).isDirectory()
  } catch {
    return false
  }
}

function readPaper(file: string, warnings: string[]): string | null {
  try {
    return readBounded(file, paperLimit)
  } catch (error) {
    warnings.push(`ignored ${basename(file)}: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
}

function parseCost(text: string, warnings: string[]): { usd?: number; tokens?: number } {
  try {
    const cost: unknown = JSON.parse(text)
    if (typeof cost !== 'object' || cost === null) throw new Error('not an object')
    const amount = (name: string) => {
      const value: unknown = Reflect.get(cost, name)
      // Null is how a program says that it does not know.
      if (value === undefined || value === null) return undefined
      if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value
      throw new Error(`${name} is not a number of 0 or more`)
    }
    const usd = amount('usd')
    const tokens = amount('tokens')
    return { ...(usd === undefined ? {} : { usd }), ...(tokens === undefined ? {} : { tokens }) }
  } catch (error) {
    warnings.push(`cost file ignored: ${error instanceof Error ? error.message : String(error)}`)
    return {}
  }
}

function larger(a: number | null, b: number | undefined): number | null {
  const valid = [a, b].filter((n): n is number => typeof n === 'number' && Number.isFinite(n) && n >= 0)
  return valid.length === 0 ? null : Math.max(...valid)
}
