import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import backlog from '../../templates/loops/backlog/loop.json'
import ciTriage from '../../templates/loops/ci-triage/loop.json'
import selfImprovement from '../../templates/loops/self-improvement/loop.json'
import { errors } from '../errors.ts'
import { nearest } from '../machine/nearest.ts'

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
}

const limit = 1 << 20

/**
 * Finds a template: a name is looked for in `<home>/templates/loops/`, then inside the program; what holds a slash is
 * the path of a folder with a `loop.json`, or of such a file, seen from `cwd`. Throws `no_template` with what there is.
 */
export function loadTemplate({ name, home, cwd }: { name: string; home: string; cwd: string }): LoopTemplate {
  if (/[/\\]|^\.{1,2}$/.test(name)) {
    const path = resolve(cwd, name)
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
  return { text: `${JSON.stringify(template, null, 2)}\n`, from: `built-in template ${name}` }
}

/** The names of all templates, the user's and the program's. */
export function listTemplates(home: string): string[] {
  const folder = join(home, 'templates', 'loops')
  const own = lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : []
  const whole = own.filter((name) => isPlainFile(join(folder, name, 'loop.json')))
  return [...new Set([...whole, ...builtins.keys()])].sort()
}

function read(file: string): LoopTemplate | null {
  return isPlainFile(file) ? { text: readFileSync(file, 'utf8'), from: file } : null
}

function isPlainFile(file: string): boolean {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false })
    return stat?.isFile() === true && stat.size <= limit
  } catch {
    return false
  }
}
