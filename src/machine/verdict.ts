import type { ReadVerdict, UnreadableVerdict, Verdict, VerifierResult } from '../api/verdict.ts'
import { type Found, type FoundObject, findObjects, nested } from './objects.ts'
import { cleanText } from './text.ts'

const maxBytes = 1_048_576
const maxReasons = 50
const maxReason = 1000
/** 1,000 tokens. */
const maxHint = 4000

/**
 * Reads the verdict out of a session's text by the rules of the contract (section 6.3). The text as a whole, a fenced
 * block and an object in prose are all found by one search, and all verdicts found must agree: which of them counts
 * then makes no difference. Never throws; what is in doubt is unreadable.
 */
export function readVerdict(text: string): VerifierResult {
  if (Buffer.byteLength(text) > maxBytes) return unreadable('it is longer than 1 MiB', text)
  const clean = cleanText(text)
  if (clean.trim() === '') return unreadable('it is empty', text)
  const [first, ...others] = findObjects(clean, 'pass')
  if (first === undefined) return unreadable('it holds no JSON object with "pass"', text)
  const all = [first, ...others]
  const twice = all.flatMap((object) => fieldNames.filter((name) => object.conflicts.has(name)))[0]
  if (twice !== undefined) return unreadable(`"${twice}" is there twice, with different values`, text)
  const read = coerce(first)
  const isAgreed = others.every((other) => isSameVerdict(coerce(other).verdict, read.verdict))
  return isAgreed ? read : unreadable(`it holds ${all.length} verdicts that differ`, text)
}

/** One verdict out of those of several verifiers: all must pass, the lowest score counts. None at all is a failure. */
export function combineVerdicts(list: readonly ReadVerdict[]): ReadVerdict {
  const verdicts = list.map((read) => read.verdict)
  if (verdicts.length === 0) {
    const verdict = { pass: false, score: 0, reasons: ['no verifier gave a verdict'], next_hint: '' }
    return { verdict, warnings: [] }
  }
  const hints = verdicts.map((verdict) => verdict.next_hint).filter((hint) => hint !== '')
  return {
    verdict: {
      pass: verdicts.every((verdict) => verdict.pass),
      score: Math.min(...verdicts.map((verdict) => verdict.score)),
      reasons: verdicts.flatMap((verdict) => verdict.reasons).slice(0, maxReasons),
      next_hint: cut([...new Set(hints)].join('\n'), maxHint),
    },
    warnings: list.flatMap((read) => read.warnings),
  }
}

const fieldNames = ['pass', 'score', 'reasons', 'next_hint'] as const

function coerce({ fields }: FoundObject): ReadVerdict {
  const warnings: string[] = []
  const warn = (text: string) => warnings.push(text)
  const verdict: Verdict = {
    pass: coercePass(fields.get('pass'), warn),
    score: coerceScore(fields.get('score'), warn),
    reasons: coerceReasons(fields.get('reasons'), warn),
    next_hint: coerceHint(fields.get('next_hint'), warn),
  }
  return { verdict, warnings }
}

type Warn = (text: string) => void

function coercePass(value: Found | undefined, warn: Warn): boolean {
  if (typeof value === 'boolean') return value
  if (typeof value === 'string') {
    const word = value.trim().toLowerCase()
    if (word === 'true' || word === 'false') return word === 'true'
  }
  const pass = typeof value === 'number' && Boolean(value)
  warn(`pass is ${show(value)}, read as ${pass}`)
  return pass
}

function coerceScore(value: Found | undefined, warn: Warn): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    warn(`score is ${show(value)}, read as 0.5`)
    return 0.5
  }
  const score = Math.min(1, Math.max(0, value))
  if (score !== value) warn(`score is ${value}, read as ${score}`)
  // No negative zero, which would print as -0.
  return score + 0
}

function coerceReasons(value: Found | undefined, warn: Warn): string[] {
  if (value === undefined) return []
  if (typeof value !== 'string' && !Array.isArray(value)) {
    warn(`reasons is ${show(value)}, read as none`)
    return []
  }
  const list = typeof value === 'string' ? [value] : value
  const texts = list.filter((reason) => typeof reason === 'string')
  if (texts.length < list.length) warn(`${list.length - texts.length} of ${list.length} reasons are no text`)
  if (texts.length > maxReasons) warn(`reasons holds ${texts.length} entries, cut to ${maxReasons}`)
  const kept = texts.slice(0, maxReasons)
  if (kept.some((reason) => reason.length > maxReason)) warn(`a reason is cut to ${maxReason} characters`)
  return kept.map((reason) => cut(reason, maxReason))
}

function coerceHint(value: Found | undefined, warn: Warn): string {
  if (value === undefined) return ''
  if (typeof value !== 'string') {
    warn(`next_hint is ${show(value)}, read as empty`)
    return ''
  }
  if (value.length > maxHint) warn(`next_hint is cut to ${maxHint} characters`)
  return cut(value, maxHint)
}

function isSameVerdict(a: Verdict, b: Verdict): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Never ends in half a character. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text
  return /[\uD800-\uDBFF]/.test(text[length - 1] ?? '') ? text.slice(0, length - 1) : text.slice(0, length)
}

function show(value: Found | undefined): string {
  if (value === undefined) return 'missing'
  if (value === nested) return 'an object'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'string' ? JSON.stringify(cut(value, 60)) : String(value)
}

function unreadable(why: string, raw: string): UnreadableVerdict {
  return { unreadable: why, raw: cut(raw, maxBytes) }
}
