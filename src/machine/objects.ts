/** A JSON value as it was found; objects inside are only known to be there. */
export type Found = string | number | boolean | null | Found[] | typeof nested

/** Stands for an object inside an object. */
export const nested = Symbol('object')

/** One object of a text. */
export interface FoundObject {
  fields: ReadonlyMap<string, Found>
  /** Keys that the object holds more than once, with different values. */
  conflicts: ReadonlySet<string>
}

/**
 * The JSON objects in a text that have the key, in order. An object inside another one is not listed. Braces that name
 * the key but hold no valid JSON are a broken answer: what is inside them is not listed, and when one is the last word,
 * or is never closed, nothing is. JSON as in RFC 8259, and bare NaN and ±Infinity. Every character is read a fixed
 * number of times, whatever the text.
 */
export function findObjects(text: string, key: string): FoundObject[] {
  const open: Open[] = []
  const closeOf = new Map<number, Closed>()
  const found: (FoundObject & { start: number })[] = []
  let lastBroken = -1
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '{') open.push({ start: at, namesKey: false })
    else if (char === '"' && open.length > 0) {
      // Quotes in prose mean nothing; inside braces they hide braces, until the end of the line at the latest.
      const end = stringEnd(text, at)
      const inside = open.at(-1)
      if (inside && text.slice(at + 1, end) === key) inside.namesKey = true
      at = end
    } else if (char === '}') {
      const { start, namesKey } = open.pop() ?? {}
      if (start === undefined) continue
      const object = new Reader(text, start + 1, closeOf).object()
      closeOf.set(start, { end: at, isValid: object !== null })
      if (object === null && !namesKey) continue
      while ((found.at(-1)?.start ?? -1) > start) found.pop()
      if (object === null) lastBroken = start
      else if (object.fields.has(key)) found.push({ start, ...object })
    }
  }
  const isBroken = open.some((brace) => brace.namesKey) || lastBroken > (found.at(-1)?.start ?? -1)
  return isBroken ? [] : found
}

interface Open {
  start: number
  namesKey: boolean
}

interface Closed {
  end: number
  isValid: boolean
}

/** The index of the closing quote, or of the last character of the line where there is none. */
function stringEnd(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    const char = text[at]
    if (char === '"') return at
    if (char === '\n') return at - 1
    if (char === '\\' && text[at + 1] !== '\n') at++
  }
  return text.length
}

const maxArrayDepth = 50
const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|[+-]?Infinity|NaN|true|false|null/y
const words = new Map<string, Found>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['+Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
])

/** Reads one object's own characters; objects inside were read before, so it steps over them. */
class Reader {
  constructor(
    private readonly text: string,
    private at: number,
    private readonly inner: ReadonlyMap<number, Closed>,
  ) {}

  /** What stands between the braces; null when it is no JSON. */
  object(): FoundObject | null {
    const fields = new Map<string, Found>()
    const conflicts = new Set<string>()
    if (this.take('}')) return { fields, conflicts }
    do {
      const name = this.string()
      if (name === undefined || !this.take(':')) return null
      const value = this.value(0)
      if (value === undefined) return null
      if (fields.has(name) && !isSame(fields.get(name), value)) conflicts.add(name)
      fields.set(name, value)
    } while (this.take(','))
    return this.take('}') ? { fields, conflicts } : null
  }

  private value(depth: number): Found | undefined {
    this.skip()
    const char = this.text[this.at]
    if (char === '"') return this.string()
    if (char === '{') return this.innerObject()
    if (char === '[') return depth < maxArrayDepth ? this.array(depth + 1) : undefined
    numberPattern.lastIndex = this.at
    const token = numberPattern.exec(this.text)?.[0]
    if (token === undefined) return undefined
    this.at += token.length
    const word = words.get(token)
    return word === undefined ? Number(token) : word
  }

  private innerObject(): Found | undefined {
    const inner = this.inner.get(this.at)
    if (!inner?.isValid) return undefined
    this.at = inner.end + 1
    return nested
  }

  private array(depth: number): Found[] | undefined {
    this.at++
    const list: Found[] = []
    if (this.take(']')) return list
    do {
      const value = this.value(depth)
      if (value === undefined) return undefined
      list.push(value)
    } while (this.take(','))
    return this.take(']') ? list : undefined
  }

  private string(): string | undefined {
    this.skip()
    if (this.text[this.at] !== '"') return undefined
    const end = stringEnd(this.text, this.at)
    if (this.text[end] !== '"' || end === this.at) return undefined
    const token = this.text.slice(this.at, end + 1)
    this.at = end + 1
    try {
      return JSON.parse(token) as string
    } catch {
      return undefined
    }
  }

  private take(char: string): boolean {
    this.skip()
    if (this.text[this.at] !== char) return false
    this.at++
    return true
  }

  private skip(): void {
    while (' \t\n\r'.includes(this.text[this.at] ?? 'x')) this.at++
  }
}

function isSame(a: Found | undefined, b: Found): boolean {
  if (a === nested || b === nested) return false
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && b.every((v, i) => isSame(a[i], v))
  }
  return Object.is(a, b)
}
