/** A JSON text that could not be read; `line` and `column` count from 1. */
export interface JsonProblem {
  line: number
  column: number
  why: string
}

/** What {@link readJson} answers. */
export type JsonResult = { ok: true; value: unknown } | { ok: false; problem: JsonProblem }

const maxDepth = 100
const spaces = /[ \t\r\n]+/y
const words = /true|false|null/y
const numbers = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON strings may not hold raw control characters
const plainText = /[^"\\\u0000-\u001f]+/y
const codeUnit = /\\u[0-9a-fA-F]{4}/y
const escapes: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

/**
 * Reads JSON that people write. Stricter than `JSON.parse`: of two equal keys the last would win silently, which could
 * lift a brake, so they are refused, as is the key `__proto__`, which copying turns into a prototype. Kinder: a byte
 * order mark is fine, and a mistake is named by line and column.
 */
export function readJson(text: string): JsonResult {
  const reader = new Reader(text.startsWith('\ufeff') ? text.slice(1) : text)
  try {
    return { ok: true, value: reader.document() }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return { ok: false, problem: reader.problem(error) }
  }
}

class Unreadable extends Error {
  constructor(
    readonly at: number,
    why: string,
  ) {
    super(why)
  }
}

class Reader {
  #at = 0
  constructor(private readonly text: string) {}

  document(): unknown {
    const value = this.#value(0)
    this.#space()
    if (this.#at < this.text.length) this.#fail('something follows after the end of the JSON')
    return value
  }

  problem({ at, message }: Unreadable): JsonProblem {
    const before = this.text.slice(0, at).split('\n')
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, why: message }
  }

  #value(depth: number): unknown {
    this.#space()
    if (depth > maxDepth) this.#fail(`it is nested more than ${maxDepth} levels deep`)
    const char = this.text[this.#at]
    if (char === undefined) this.#fail('the text ends too early')
    if (char === '{') return this.#object(depth)
    if (char === '[') return this.#array(depth)
    if (char === '"') return this.#string()
    const word = this.#match(words)
    if (word !== null) return word === 'null' ? null : word === 'true'
    const number = this.#match(numbers)
    if (number !== null) return Number(number)
    if (char === '/' || char === '#') this.#fail('JSON has no comments')
    return this.#fail('a value is expected here')
  }

  #object(depth: number): unknown {
    const object: Record<string, unknown> = {}
    this.#at++
    this.#space()
    if (this.#take('}')) return object
    do {
      this.#space()
      const start = this.#at
      if (this.text[start] === '}') this.#fail('a comma stands before the closing brace')
      if (this.text[start] !== '"') this.#fail('a key in double quotes is expected here')
      const key = this.#string()
      if (key === '__proto__') this.#fail('the key "__proto__" is not allowed', start)
      if (Object.hasOwn(object, key)) this.#fail(`the key ${JSON.stringify(key)} is there twice`, start)
      this.#space()
      if (!this.#take(':')) this.#fail('a colon is expected here')
      object[key] = this.#value(depth + 1)
      this.#space()
    } while (this.#take(','))
    if (!this.#take('}')) this.#fail('a comma or a closing brace is expected here')
    return object
  }

  #array(depth: number): unknown[] {
    const array: unknown[] = []
    this.#at++
    this.#space()
    if (this.#take(']')) return array
    do {
      this.#space()
      if (this.text[this.#at] === ']') this.#fail('a comma stands before the closing bracket')
      array.push(this.#value(depth + 1))
      this.#space()
    } while (this.#take(','))
    if (!this.#take(']')) this.#fail('a comma or a closing bracket is expected here')
    return array
  }

  #string(): string {
    let value = ''
    this.#at++
    for (;;) {
      value += this.#match(plainText) ?? ''
      if (this.#take('"')) return value
      if (this.text[this.#at] !== '\\') this.#fail('a string is not closed on its line')
      const hex = this.#match(codeUnit)
      const plain = hex === null ? escapes[this.text[this.#at + 1] ?? ''] : undefined
      if (hex !== null) value += String.fromCharCode(Number.parseInt(hex.slice(2), 16))
      else if (plain === undefined)
        this.#fail('an unknown escape stands in a string (a backslash is written \\\\)')
      else {
        value += plain
        this.#at += 2
      }
    }
  }

  #match(sticky: RegExp): string | null {
    sticky.lastIndex = this.#at
    if (!sticky.test(this.text)) return null
    const start = this.#at
    this.#at = sticky.lastIndex
    return this.text.slice(start, this.#at)
  }

  #take(char: string): boolean {
    if (this.text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #space(): void {
    this.#match(spaces)
  }

  #fail(why: string, at = this.#at): never {
    throw new Unreadable(at, why)
  }
}
