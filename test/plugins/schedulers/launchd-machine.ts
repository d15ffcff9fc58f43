import { type Machine, machine, type Program } from './machine.ts'

/** A machine with launchd. */
export interface LaunchdMachine extends Machine {
  /** The agents that launchd has loaded, by label, as their files were then. */
  loaded: Map<string, string>
  /** The agents that a person switched off. */
  off: Set<string>
  /** How often a program is refused once more after its agent was unloaded. */
  busy: number
}

/** Makes one for user 501, whose HOME is /Users/pat. launchd reads a file when it is told to, and at login. */
export function launchdMachine(change: { user?: number | null; fromTick?: boolean } = {}): LaunchdMachine {
  const loaded = new Map<string, string>()
  const off = new Set<string>()
  const files: Machine['files'] = new Map()
  const failed = (code: number, says: string) => ({ failed: code, says })
  let refusals = 0
  const launchctl: Program = ([verb, target = '', path = '']) => {
    const [domain, user, label = ''] = target.split('/')
    if (domain !== 'gui' || user !== '501') return failed(125, 'Domain does not support specified action')
    switch (verb) {
      case 'print':
        return loaded.has(label) ? `${target} = {\n` : failed(113, 'Could not find service')
      case 'print-disabled':
        return [
          'disabled services = {',
          ...[...off].map((name) => `\t\t"${name}" => disabled`),
          '\t}\n',
        ].join('\n')
      case 'enable':
        off.delete(label)
        return ''
      case 'bootout':
        if (!loaded.delete(label)) return failed(3, 'Boot-out failed: 3: No such process')
        refusals = made.busy
        return ''
      case 'bootstrap': {
        const text = String(files.get(path))
        const name = /<key>Label<\/key>\s*<string>(.*?)<\/string>/.exec(text)?.[1] ?? ''
        if (refusals-- > 0 || loaded.has(name) || off.has(name) || !files.has(path)) {
          return failed(5, 'Bootstrap failed: 5: Input/output error')
        }
        loaded.set(name, text)
        return ''
      }
      default:
        return failed(64, `Unrecognized subcommand: ${verb}`)
    }
  }
  const of = { home: '/Users/pat', user: 501, ...change }
  const made: LaunchdMachine = { ...machine({ launchctl }, files, of), loaded, off, busy: 1 }
  return made
}
