import type * as v from 'valibot'
import { type AutomatonError, errors } from '../errors.ts'
import { nearest } from '../machine/nearest.ts'
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

/** A path into JSON as people write it: `roles.verify.tier`, `verifiers[0].use`, `brakes["a.b"]`. */
export function dotted(keys: readonly unknown[]): string {
  return keys
    .map((key) => {
      if (typeof key === 'number') return `[${key}]`
      const word = String(key)
      return /^[\w$-]+$/.test(word) ? `.${word}` : `[${JSON.stringify(word)}]`
    })
    .join('')
    .replace(/^\./, '')
}

/** The message of an object schema: which keys there are, or that an object is wanted at all. */
export function shape(keys: readonly string[]): (issue: v.BaseIssue<unknown>) => string {
  return ({ expected, path }) => {
    const { key, input } = path?.at(-1) ?? {}
    if (expected === 'never') {
      const near = nearest(String(key), keys)
      const meant = near === null ? '' : `; did you mean "${near}"?`
      return `${keys.join(', ')} (an unknown key here could lift a brake${meant})`
    }
    if (!expected?.startsWith('"')) return 'a JSON object'
    const typed = Object.keys(Object(input)).filter((name) => !keys.includes(name))
    const near = nearest(String(key), typed)
    return `a value; ${expected} is required${near === null ? '' : ` (is "${near}" meant to be it?)`}`
  }
}

/** The complaint to tell first: a key that is wrong, before one that is missing, perhaps because of it. */
export function worstOf(
  issues: readonly [v.BaseIssue<unknown>, ...v.BaseIssue<unknown>[]],
): v.BaseIssue<unknown> {
  return issues.find(isUnknownKey) ?? issues[0]
}

function isUnknownKey({ expected, type }: v.BaseIssue<unknown>): boolean {
  return expected === 'never' && type === 'strict_object'
}

function found(issue: v.BaseIssue<unknown>): string {
  const input = issue.path ? issue.path.at(-1)?.value : issue.input
  if (isUnknownKey(issue)) return 'not a known key'
  if (input === undefined) return 'missing'
  if (typeof input === 'number' && !Number.isFinite(input)) return 'a number too large to hold'
  const text = JSON.stringify(input) ?? String(input)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}
