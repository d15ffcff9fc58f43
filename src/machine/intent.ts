import { type Phase, phases } from '../api/work.ts'
import { type FoundObject, findObjects } from './objects.ts'
import { cleanText } from './text.ts'

/** The one thing that an orchestrate session may ask for. Nothing changes until the runner has checked it. */
export type Intent =
  | { action: 'transition'; to: Phase; reason: string }
  | { action: 'escalate'; reason: string }
  | { action: 'hold'; reason: string }

const maxLength = 1_048_576
const maxReason = 1000

/** Reads an intent file: exactly one JSON object. */
export function parseIntent(text: string): Intent | { unreadable: string } {
  if (text.length > maxLength) return { unreadable: 'it is longer than 1 MiB' }
  const clean = cleanText(text).trim()
  const [object, ...others] = findObjects(clean, 'action')
  if (object === undefined) return { unreadable: 'it is no JSON object with "action"' }
  if (others.length > 0) return { unreadable: 'it names more than one operation' }
  if (!isWhole(clean)) return { unreadable: 'it holds more than one JSON object' }
  return intentOf(object)
}

/**
 * The intent in a session's final message, for harnesses whose agent cannot run commands: the whole text, a fenced
 * block or an object in prose. Null (hold) when there is none, or when there are two that differ.
 */
export function findIntent(message: string): Intent | null {
  if (message.length > maxLength) return null
  const intents = findObjects(cleanText(message), 'action').map(intentOf)
  const [first] = intents
  if (first === undefined || 'unreadable' in first) return null
  return intents.every((other) => JSON.stringify(other) === JSON.stringify(first)) ? first : null
}

function intentOf({ fields, conflicts }: FoundObject): Intent | { unreadable: string } {
  const twice = ['action', 'to', 'reason'].find((name) => conflicts.has(name))
  if (twice !== undefined) return { unreadable: `"${twice}" is there twice, with different values` }
  const action = word(fields.get('action'))
  const reason = textOf(fields.get('reason'))
  switch (action) {
    case 'transition': {
      const to = phases.find((phase) => phase === word(fields.get('to')))
      return to === undefined ? { unreadable: '"to" is no phase' } : { action, to, reason }
    }
    case 'escalate':
      return reason === '' ? { unreadable: 'escalate needs a reason' } : { action, reason }
    case 'hold':
      return { action, reason }
    default:
      return { unreadable: '"action" is not transition, escalate or hold' }
  }
}

/** Whether nothing stands around the one object that was found. */
function isWhole(text: string): boolean {
  return text.startsWith('{') && text.endsWith('}') && isJson(text)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function word(value: unknown): string {
  return typeof value === 'string' ? value.trim().toLowerCase() : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim().slice(0, maxReason).toWellFormed() : ''
}
