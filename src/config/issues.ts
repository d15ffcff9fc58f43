import type * as v from 'valibot'
import { type AutomatonError, errors } from '../errors.ts'
import { readJson } from './json.ts'

/** Reads one JSON file that people write. Throws `bad_config` naming line and column. */
export function parseConfig(file: string, text: string): unknown {
  const read = readJson(text)
  if (read.ok) return read.value
  const { line, column, why } = read.problem
  throw errors.badConfig(file, `line ${line}, column ${column}`, `not JSON (${why})`, 'one JSON object')
}

/** The error for a schema's first complaint. The message of each schema in this folder says what is allowed. */
export function configError(file: string, issue: v.BaseIssue<unknown>): AutomatonError {
  const path = dotted(issue.path?.map((item) => item.key) ?? [])
  return errors.badConfig(file, path || 'the whole file', found(issue), issue.message)
}

/** A path into JSON as people write it: `roles.verify.tier`, `verifiers[0].use`. */
export function dotted(keys: readonly unknown[]): string {
  return keys
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '')
}

/** The message of an object schema: which keys there are, or that an object is wanted at all. */
export function shape(keys: readonly string[]): (issue: v.BaseIssue<unknown>) => string {
  return ({ expected }) => {
    if (expected === 'never') return `${keys.join(', ')} (an unknown key here could lift a brake)`
    return expected?.startsWith('"') ? `a value; ${expected} is required` : 'a JSON object'
  }
}

function found({ expected, type, path, ...issue }: v.BaseIssue<unknown>): string {
  const input = path ? path.at(-1)?.value : issue.input
  if (expected === 'never' && type === 'strict_object') return 'not a known key'
  if (input === undefined) return 'missing'
  if (typeof input === 'number' && !Number.isFinite(input)) return 'a number too large to hold'
  const text = JSON.stringify(input) ?? String(input)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}
