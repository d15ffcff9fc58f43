import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import backlog from '../../templates/loops/backlog/loop.json'
import ciTriage from '../../templates/loops/ci-triage/loop.json'
import selfImprovement from '../../templates/loops/self-improvement/loop.json'
import { errors } from '../errors.ts'
import { nearest } from '../machine/nearest.ts'
import { realPath } from '../system/real-path.ts'
import { isInWorktree } from '../system/worktree-path.ts'

const builtins: ReadonlyMap<string, object> = new Map<string, object>([
  ['backlog', backlog],
  ['ci-triage', ciTriage],
  ['self-improvement', selfImprovement],
])

/** A template of a loop: `loop.json` without the name of a loop. */
export interface LoopTemplate {
  text: string
  /** The file's path, or `built-in template <name>`. */
  from: string
  /** Prompts beside it, by name: a loop of this template gets them in its folder, where `roles.*.prompt` looks first. */
  prompts: ReadonlyMap<string, string>
}

const limit = 1 << 20
const promptLimit = 1 << 18

/**
 * Finds a template: a name is looked for in `<home>/templates/loops/`, then inside the program; what holds a slash is
 * the path of a folder with a `loop.json`, or of such a file, seen from `cwd`. Throws `no_template` with what there is, and
 * `usage` for a folder that sessions write in.
 */
export function loadTemplate({ name, home, cwd }: { name: string; home: string; cwd: string }): LoopTemplate {
  if (/[/\\]|^\.{1,2}$/.test(name)) {
    const path = resolve(cwd, name)
    refuseWorktree(path)
    const found = read(join(path, 'loop.json')) ?? read(path)
    if (found) return found
    throw errors.noTemplate(name, `there is no ${join(path, 'loop.json')}`)
  }
  const own = read(join(home, 'templates', 'loops', name, 'loop.json'))
  if (own) return own
  const template = builtins.get(name)
  if (!template) {
    const known = listTemplates(home)
    throw errors.noTemplate(name, `there are ${known.join(', ')}`, nearest(name, known))
  }
  return {
    text: `${JSON.stringify(template, null, 2)}\n`,
    from: `built-in template ${name}`,
    prompts: new Map(),
  }
}

/** The names of all templates, the user's and the program's. */
export function listTemplates(home: string): string[] {
  const folder = join(home, 'templates', 'loops')
  const own = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : []
  const whole = own.filter((name) => isPlainFile(join(folder, name, 'loop.json')))
  return [...new Set([...whole, ...builtins.keys()])].sort()
}

/** A template decides what a loop may do, so an agent must not have had a hand in it. */
function refuseWorktree(path: string): void {
  const real = existsSync(path) ? realPath(path) : path
  if (!isInWorktree(real)) return
  const why = "it lies in a loop's worktree, where sessions write"
  throw errors.usage(
    `template refused (${path})`,
    why,
    'copy it out of the worktree, look at it, and name the copy',
  )
}

function read(file: string): LoopTemplate | null {
  if (!isPlainFile(file)) return null
  return { text: readFileSync(file, 'utf8'), from: file, prompts: promptsIn(dirname(file)) }
}

function promptsIn(folder: string): Map<string, string> {
  const names = readdirSync(folder).filter((name) => /^[\w-][\w.-]*\.md$/.test(name) && name !== 'README.md')
  const plain = names.filter((name) => isPlainFile(join(folder, name), promptLimit))
  return new Map(plain.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

function isPlainFile(file: string, atMost = limit): boolean {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false })
    return stat?.isFile() === true && stat.size <= atMost
  } catch {
    return false
  }
}
