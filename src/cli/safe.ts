import { visible } from '../system/hygiene.ts'

/** A report whose every text may be shown: what a terminal could act on is spelled out, line ends included. */
export function safe<T>(value: T): T {
  return map(value) as T
}

/** One line that may be shown. */
export function safeLine(text: string): string {
  // Nearly every text is this plain, and the other test has large tables to build first.
  if (/^[\x20-\x7e]*$/.test(text)) return text
  return visible(text).replaceAll('\n', '\\n').replaceAll('\t', ' ')
}

/** A text of many lines that may be shown; only its line ends stay. */
export function safeLines(text: string): string {
  if (/^[\x20-\x7e\n]*$/.test(text)) return text
  return visible(text.replaceAll('\r\n', '\n')).replaceAll('\t', '    ')
}

function map(value: unknown): unknown {
  if (typeof value === 'string') return safeLine(value)
  if (Array.isArray(value)) return value.map(map)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [safeLine(key), map(inner)]))
}
