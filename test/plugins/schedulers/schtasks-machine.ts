import { type Machine, machine, type Program } from './machine.ts'

/** A machine with a Task Scheduler. */
export interface SchtasksMachine extends Machine {
  /** The registered tasks, as documents. */
  tasks: Map<string, string>
}

/** Makes one. It answers as Windows does: without what is so by default, in its own words, and in a console's code page. */
export function schtasksMachine(): SchtasksMachine {
  const tasks = new Map<string, string>()
  const files: Machine['files'] = new Map()
  const failed = (says: string) => ({ failed: 1, says: `ERROR: ${says}` })
  const schtasks: Program = ([verb, ...args]) => {
    const value = (option: string) => args[args.indexOf(option) + 1] ?? ''
    const name = value('/TN')
    const task = tasks.get(name)
    if (verb === '/Create') {
      const bytes = files.get(value('/XML'))
      if (!(bytes instanceof Uint8Array) || bytes[0] !== 0xff || bytes[1] !== 0xfe) {
        return failed('The task XML is malformed.')
      }
      if (task !== undefined && !args.includes('/F')) return failed('It exists already.')
      tasks.set(name, Buffer.from(bytes).toString('utf16le').slice(1))
      return 'SUCCESS\n'
    }
    if (task === undefined) return failed('The system cannot find the file specified.')
    switch (verb) {
      case '/Query':
        return args.includes('/XML') ? printed(task) : failed('unexpected')
      case '/Change':
        tasks.set(name, task.replace(/(<Settings>[\s\S]*<Enabled>)\w+/, `$1${args.includes('/ENABLE')}`))
        return ''
      case '/Delete':
        if (!args.includes('/F')) return failed('Nobody answered.')
        tasks.delete(name)
        return ''
      default:
        return failed('Invalid argument/option.')
    }
  }
  const whoami: Program = () => '"pc\\pat","S-1-5-21-1-2-3-1001"\r\n'
  return { ...machine({ schtasks, whoami }, files, { home: 'C:\\Users\\pat', user: null }), tasks }
}

function printed(task: string): string {
  return task
    .replace('<RunLevel>LeastPrivilege</RunLevel>', '')
    .replace('<MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>', '<IdleSettings></IdleSettings>')
    .replace('<Interval>PT60M</Interval>', '<Interval>PT1H</Interval>')
    .replaceAll(/&#(\d+);/g, (_, code) => (Number(code) < 128 ? String.fromCodePoint(Number(code)) : '?'))
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
}
