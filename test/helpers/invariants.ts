import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { processesWith } from './processes.ts'
import { git } from './repo.ts'

/** Where the loop under test keeps its things. */
export interface Scene {
  root: string
  loop: string
  loopDir: string
  worktree: string
  /** Where agents noted the marks of the lines that they wrote, one a line; see `marking-agent`. */
  marks?: string
}

/** How everything stood before a fault; what the checks compare with. */
export interface Before {
  iterations: number
  records: number
  /** What belongs to people, by name: refs, configuration, hooks, files of the primary checkout. */
  theirs: Record<string, string>
}

// biome-ignore lint/suspicious/noExplicitAny: the files under test are looked at as they are
type Json = any

/** Looks at a loop whose state is whole. */
export function lookBefore(scene: Scene): Before {
  const { records } = readChain(scene)
  return { iterations: readState(scene).iteration_count, records: records.length, theirs: theirs(scene) }
}

/**
 * What must hold right after any fault, whatever it was: the state parses and is its log's last record or the one
 * before, an iteration is counted only with its record, and nothing of a person's was touched. Returns what does not hold.
 */
export function checkAfterFault(scene: Scene, before: Before): string[] {
  const problems = [...checkState(scene, before, 1), ...compareTheirs(scene, before)]
  // While git makes a worktree it keeps it locked; what a killed git left of it is made whole by the next tick.
  const isUnfinished = existsSync(join(adminOf(scene), 'locked'))
  if (existsSync(scene.worktree) && !isUnfinished) problems.push(...checkWorktree(scene))
  return problems
}

/** What must hold after the next tick that nothing disturbed: nothing is half done, left over, or lost. */
export function checkWhole(scene: Scene, before: Before): string[] {
  const problems = [...checkState(scene, before, 0), ...compareTheirs(scene, before), ...checkWorktree(scene)]
  if (existsSync(join(scene.loopDir, 'run.json'))) problems.push('run.json is still there')
  problems.push(...staleFiles(scene).map((file) => `left over: ${file}`))
  problems.push(...livingSessions(scene).map((process) => `still runs: ${process}`))
  return [...problems, ...lostMarks(scene).map((mark) => `lost: ${mark}`)]
}

/** `ahead`: by how many records the log may be ahead of the state. */
function checkState(scene: Scene, before: Before, ahead: number): string[] {
  let state: Json
  try {
    state = readState(scene)
  } catch (error) {
    return [`the state cannot be read: ${error}`]
  }
  const { records, hashes, problem } = readChain(scene)
  if (problem !== null && (ahead === 0 || !problem.startsWith('torn'))) return [problem]
  const problems: string[] = []
  const behind = records.length - state.seq
  if (behind < 0 || behind > ahead)
    problems.push(`the log has ${records.length} records, the state ${state.seq}`)
  if (state.log_head !== hashes[state.seq - 1]) problems.push('log_head is not the hash of its record')
  const recorded = records[state.seq - 1]?.state ?? {}
  for (const [key, value] of Object.entries(recorded)) {
    if (key === 'last_tick_at' || key === 'updated_at' || Bun.deepEquals(state[key], value, true)) continue
    problems.push(`state.${key} is not what record ${state.seq} says`)
  }
  if (records.length < before.records)
    problems.push(`the log lost ${before.records - records.length} records`)
  const counted = records.slice(before.records, state.seq).filter((record) => record.type === 'tick').length
  if (state.iteration_count !== before.iterations + counted) {
    problems.push(
      `iteration_count went from ${before.iterations} to ${state.iteration_count} with ${counted} ticks`,
    )
  }
  return problems
}

/** The log's records, checked along the chain by these tests' own means. */
export function readChain(scene: Scene): { records: Json[]; hashes: string[]; problem: string | null } {
  const text = readFileSync(join(scene.loopDir, '.state.log'), 'utf8')
  const lines = text.split('\n')
  const rest = lines.pop()
  const records: Json[] = []
  const hashes: string[] = []
  for (const line of lines) {
    const record = JSON.parse(line)
    const prev = hashes.at(-1) ?? '0'.repeat(64)
    if (record.prev !== prev || record.seq !== records.length + 1) {
      return { records, hashes, problem: `the chain breaks at record ${records.length + 1}` }
    }
    records.push(record)
    hashes.push(createHash('sha256').update(line).digest('hex'))
  }
  return {
    records,
    hashes,
    problem: rest === '' ? null : `torn: ${rest?.length} characters after the last record`,
  }
}

function checkWorktree(scene: Scene): string[] {
  const head = join(adminOf(scene), 'HEAD')
  // Between making the folder and its HEAD there is nothing to look at yet; the next tick makes it whole.
  if (!existsSync(head)) return existsSync(join(scene.worktree, '.git')) ? ['the worktree has no HEAD'] : []
  const text = readFileSync(head, 'utf8').trim()
  return text === `ref: refs/heads/automaton/${scene.loop}` ? [] : [`the worktree's HEAD is ${text}`]
}

/** Where git keeps what it knows of the worktree. One that was killed at its start leaves an empty folder, and the next one takes another name. */
function adminOf({ root, worktree }: Scene): string {
  const file = join(worktree, '.git')
  const told = existsSync(file) ? /^gitdir: (.+)\n$/.exec(readFileSync(file, 'utf8'))?.[1] : undefined
  return told ?? join(root, '.git', 'worktrees', 'worktree')
}

/** Files that only a writer which is still at work may have. */
export function staleFiles({ root, loopDir }: Scene): string[] {
  const stale = /^\.automaton-tmp-|\.lock$|^\.automaton-run$|^copied-index$/
  const known = new Set([join(loopDir, '.state.lock'), join(root, '.automaton', 'cache', 'tasks.lock')])
  return walk(root).filter((file) => stale.test(file.slice(file.lastIndexOf('/') + 1)) && !known.has(file))
}

/** Marks that an agent wrote and that are nowhere any more: in no commit below the loop's refs, and not in the worktree. */
export function lostMarks({ root, loop, worktree, marks }: Scene): string[] {
  const noted = marks && existsSync(marks) ? readFileSync(marks, 'utf8').split('\n').filter(Boolean) : []
  if (noted.length === 0) return []
  const work = join(worktree, 'src', 'work.txt')
  const refs = [`--glob=refs/heads/automaton/${loop}`, '--glob=refs/automaton/*']
  const history = git(root, 'log', '-p', '--no-color', '--format=', ...refs, '--', 'src/work.txt')
  const text = `${history}\n${existsSync(work) ? readFileSync(work, 'utf8') : ''}`
  const found = new Set(text.match(/mark-[0-9a-f-]+/g))
  return noted.filter((mark) => !found.has(mark))
}

function compareTheirs(scene: Scene, before: Before): string[] {
  const now = theirs(scene)
  const names = new Set([...Object.keys(now), ...Object.keys(before.theirs)])
  return [...names].filter((name) => now[name] !== before.theirs[name]).map((name) => `changed: ${name}`)
}

/** Everything that no tick may touch, by name. */
function theirs({ root, loop }: Scene): Record<string, string> {
  const record: Record<string, string> = {}
  const gitDir = join(root, '.git')
  record.HEAD = readFileSync(join(gitDir, 'HEAD'), 'utf8')
  for (const line of git(root, 'for-each-ref', '--format=%(refname) %(objectname)').split('\n')) {
    const [ref = '', id = ''] = line.split(' ')
    if (ref === `refs/heads/automaton/${loop}` || ref.startsWith('refs/automaton/')) continue
    record[ref] = id
  }
  const files = [join(gitDir, 'config'), ...walk(join(gitDir, 'hooks')), ...walk(join(gitDir, 'info'))]
  const own = walk(root).filter((file) => !file.startsWith(`${gitDir}/`) && !file.includes('/.automaton/'))
  for (const file of [...files, ...own, join(root, '.automaton', 'loops', loop, 'loop.json')]) {
    record[file] = createHash('sha256').update(readFileSync(file)).digest('hex')
  }
  record.status = git(root, '--no-optional-locks', 'status', '--porcelain', '--', ':!.automaton')
  return record
}

/** Processes of sessions that any tick of the project started, also of one that never came to write it down. */
export function livingSessions({ root }: Scene): string[] {
  return processesWith((variable) => variable.startsWith(`AUTOMATON_OUTPUT=${root}/`))
}

function readState({ loopDir }: Scene): Json {
  return JSON.parse(readFileSync(join(loopDir, '.state.loop'), 'utf8'))
}

/** Every file below a folder, with the worktree's and without following links. */
function walk(folder: string): string[] {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    return entry.isDirectory() ? [...(entry.name === '.automaton-run' ? [path] : []), ...walk(path)] : [path]
  })
}
