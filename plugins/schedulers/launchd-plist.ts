import type { Unit } from 'automaton'
import type { Settings } from './differences.ts'
import { plainPath } from './names.ts'
import { minutesOfHour, stepMinutes } from './period.ts'
import { type Element, escapeXml, parseXml } from './xml.ts'

type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value }

/**
 * What a loop's agent says (launchd.plist(5)). It fires by the calendar and not by `StartInterval`: after a sleep launchd
 * makes up for all the calendar's missed times in one run, and drops those of an interval.
 */
export function agent(label: string, { script, intervalSeconds }: Unit): { readonly [key: string]: Value } {
  const log = agentLog(plainPath(script))
  return {
    Label: label,
    ProgramArguments: [script],
    StartCalendarInterval: minutesOfHour(stepMinutes(intervalSeconds)).map((Minute) => ({ Minute })),
    ProcessType: 'Background',
    // What a dead tick left in its process group goes with it.
    AbandonProcessGroup: false,
    StandardOutPath: log,
    StandardErrorPath: log,
  }
}

/** The file that keeps what a scheduled tick prints on macOS: beside its script. */
export function agentLog(script: string): string {
  return `${script.slice(0, script.lastIndexOf('/'))}/launchd.log`
}

/** A property list as XML. */
export function writePlist(settings: { readonly [key: string]: Value }): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    ...linesOf(settings),
    '</plist>',
    '',
  ].join('\n')
}

/** What a property list in XML says. Throws for one that is none, or whose outermost value is no dictionary. */
export function readPlist(text: string): Settings {
  const root = parseXml(text)
  const [top] = root.children
  if (root.name !== 'plist' || top?.name !== 'dict') throw new Error('it is no property list')
  return dictionary(top)
}

function linesOf(value: Value): string[] {
  if (typeof value === 'string') return [`<string>${escapeXml(value)}</string>`]
  if (typeof value === 'number') return [`<integer>${value}</integer>`]
  if (typeof value === 'boolean') return [`<${value}/>`]
  if (isList(value)) return ['<array>', ...value.flatMap(linesOf).map(indented), '</array>']
  const entries = Object.entries(value).flatMap(([key, inner]) => [
    `<key>${escapeXml(key)}</key>`,
    ...linesOf(inner),
  ])
  return ['<dict>', ...entries.map(indented), '</dict>']
}

// Array.isArray does not tell a list that cannot be written to from an object.
function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

function indented(line: string): string {
  return `  ${line}`
}

function plain({ name, text, children }: Element): unknown {
  switch (name) {
    case 'true':
    case 'false':
      return name === 'true'
    case 'integer':
    case 'real':
      return Number(text)
    case 'array':
      return children.map(plain)
    case 'dict':
      return dictionary({ name, text, children })
    default:
      return text
  }
}

function dictionary({ children }: Element): Record<string, unknown> {
  const entries: [string, unknown][] = []
  for (let i = 0; i + 1 < children.length; i += 2) {
    const [key, value] = children.slice(i, i + 2)
    if (key?.name !== 'key' || !value) throw new Error('a dictionary has a value without a key')
    entries.push([key.text, plain(value)])
  }
  return Object.fromEntries(entries)
}
