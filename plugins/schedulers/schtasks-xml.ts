import { projectHash, type Unit } from 'automaton'
import { plainPath } from './names.ts'
import { stepMinutes } from './period.ts'
import { type Element, escapeXml, parseXml } from './xml.ts'

/** What a task says, text by path: `Settings/Hidden`. A list where an element stands more than once. */
export type TaskSettings = Readonly<Record<string, string | string[]>>

interface Tree {
  readonly [name: string]: string | Tree
}

/**
 * A loop's task, as the Task Scheduler schema has it ([MS-TSCH] 2.5). Without the settings it would not start on batteries,
 * end when the cable is pulled or after three days, and never make up for a missed start. `sid` is the user's; null
 * leaves the user to Windows.
 */
export function taskTree(unit: Unit, sid: string | null): Tree {
  const { loop, project, script, intervalSeconds } = unit
  return {
    RegistrationInfo: {
      Source: ownerMark(unit),
      Description: `Automaton loop ${loop} of ${plainPath(project)}, one tick`,
    },
    Triggers: {
      TimeTrigger: {
        StartBoundary: '2000-01-01T00:00:00Z',
        Repetition: { Interval: `PT${stepMinutes(intervalSeconds)}M` },
      },
    },
    Principals: {
      Principal: {
        ...(sid === null ? {} : { UserId: sid }),
        LogonType: 'InteractiveToken',
        RunLevel: 'LeastPrivilege',
      },
    },
    Settings: {
      MultipleInstancesPolicy: 'IgnoreNew',
      DisallowStartIfOnBatteries: 'false',
      StopIfGoingOnBatteries: 'false',
      StartWhenAvailable: 'true',
      RunOnlyIfNetworkAvailable: 'false',
      RunOnlyIfIdle: 'false',
      Enabled: 'true',
      Hidden: 'true',
      ExecutionTimeLimit: 'PT0S',
    },
    Actions: { Exec: action(script) },
  }
}

/** By this a task is known again as that of one loop. */
export function ownerMark({ loop, project }: Unit): string {
  return `automaton ${projectHash(project)} ${loop}`
}

/** The document of a task, for `schtasks /Create /XML`: UTF-16LE with a byte order mark, which every version reads. */
export function taskDocument(task: Tree): Uint8Array {
  const lines = [
    '\ufeff<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    ...linesOf(task).map((line) => `  ${line}`),
    '</Task>',
    '',
  ]
  return Buffer.from(lines.join('\r\n'), 'utf16le')
}

/** What a task says. Throws for a document that is none. */
export function readTask(document: string): TaskSettings {
  const root = parseXml(document)
  if (root.name !== 'Task') throw new Error(`it is a <${root.name}>, and no task`)
  const settings = new Map<string, string | string[]>()
  collect(root, '', settings)
  return Object.fromEntries(settings)
}

/** The settings of a task of ours, by the same paths. */
export function flatten(tree: Tree, prefix = ''): Record<string, string> {
  const entries = Object.entries(tree).map(([name, value]) =>
    typeof value === 'string' ? { [prefix + name]: value } : flatten(value, `${prefix}${name}/`),
  )
  return Object.assign({}, ...entries)
}

/**
 * The text of a document, of which each byte came as one character. What `schtasks /Query` prints is said to be UTF-16,
 * and is in the console's code page; redirected elsewhere it may be either.
 */
export function documentText(bytes: string): string {
  const raw = Buffer.from(bytes, 'latin1')
  if (raw.includes(0)) return raw.toString('utf16le').replace(/^\ufeff/, '')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(raw)
  } catch {
    return bytes
  }
}

/**
 * The program of the task. A console program of a task has a window, which `conhost --headless` keeps away; but that takes
 * its command line apart and puts it together again, by other rules in each version, so that no quoted path is safe in it.
 * Therefore the folder is a setting of its own, and the command line has nothing in it that anybody would quote.
 */
function action(script: string): Tree {
  const [, folder = '', file = ''] = /^(.*)[\\/]([\w.-]+)$/s.exec(plainPath(script)) ?? []
  const refused = (why: string) => new Error(`the path ${script} ${why}`)
  if (folder === '') throw refused('is not that of a script in a folder')
  // Windows replaces it here, and there is no way to write it so that it does not.
  if (/%[^%]+%/.test(folder)) throw refused('has a part between percent signs, which Windows would replace')
  if (/^[\\/]{2}/.test(folder)) throw refused('is on the network, where the command interpreter cannot start')
  return {
    Command: '%SystemRoot%\\System32\\conhost.exe',
    // conhost looks for it where it lies itself, before it looks into the folder.
    Arguments: `--headless cmd.exe /d /c .\\${file}`,
    WorkingDirectory: folder,
  }
}

const attributes: Readonly<Record<string, string>> = {
  Principal: ' id="Author"',
  Actions: ' Context="Author"',
}

function linesOf(tree: Tree): string[] {
  return Object.entries(tree).flatMap(([name, value]) => {
    const start = `<${name}${attributes[name] ?? ''}>`
    if (typeof value === 'string') return [`${start}${escapeXml(value)}</${name}>`]
    return [start, ...linesOf(value).map((line) => `  ${line}`), `</${name}>`]
  })
}

function collect({ children }: Element, prefix: string, into: Map<string, string | string[]>): void {
  for (const child of children) {
    const path = prefix + child.name
    if (child.children.length > 0) collect(child, `${path}/`, into)
    else into.set(path, into.has(path) ? [into.get(path) ?? [], child.text].flat() : child.text)
  }
}
