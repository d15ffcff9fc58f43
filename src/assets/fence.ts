/** Puts text from outside between two lines that it cannot know; no text, no fence. */
export function fence(text: string, name: string, marker: string): string {
  if (text === '') return ''
  return `<<< ${name} ${marker}\n${text}\n>>> ${name} ${marker}`
}

/** What one UTF-16 code unit counts; at least 1. */
export type Weigh = (code: number) => number

/**
 * Keeps a text's beginning and end within `limit` and says in its middle how many characters went. Reports end with
 * what counts, so the end keeps a third. A limit too small even for saying so leaves only that, or a text that weighs
 * less. By default every code unit counts 1. `missing` are characters that were left out of the text's middle before.
 */
export function cutText(text: string, limit: number, weigh: Weigh = one, missing = 0): string {
  if (missing === 0 && weightOf(text, weigh, limit) <= limit) return text
  const length = text.length + missing
  const says = (gone: number) => `[… ${gone} of ${length} characters cut …]`
  const mark = weightOf(says(length), weigh)
  const room = limit - mark - 2 * weigh(lineFeed)
  if (room <= 0) return missing > 0 || mark < weightOf(text, weigh, mark) ? says(length) : text
  const tail = Math.floor(room / 3)
  const head = whole(text.slice(0, fits(text, room - tail, weigh)), 'end')
  const end = whole(text.slice(text.length - fitsAtEnd(text, tail, weigh)), 'start')
  return `${head}\n${says(length - head.length - end.length)}\n${end}`
}

/** What a text weighs. Counting stops beyond `enough`. */
export function weightOf(text: string, weigh: Weigh, enough = Number.POSITIVE_INFINITY): number {
  let sum = 0
  for (let at = 0; at < text.length && sum <= enough; at++) sum += weigh(text.charCodeAt(at))
  return sum
}

/**
 * Writes out characters that a person would not see and a model would read: controls, direction marks, zero-width
 * spaces, and the tag block. Joiners stay, because scripts and emoji need them.
 */
export function showInvisible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

const lineFeed = 10

function one(): number {
  return 1
}

/** How many code units from the start weigh no more than `limit`. */
function fits(text: string, limit: number, weigh: Weigh): number {
  let left = limit
  let at = 0
  while (at < text.length) {
    left -= weigh(text.charCodeAt(at))
    if (left < 0) break
    at++
  }
  return at
}

/** The same from the end. */
function fitsAtEnd(text: string, limit: number, weigh: Weigh): number {
  let left = limit
  let count = 0
  while (count < text.length) {
    left -= weigh(text.charCodeAt(text.length - 1 - count))
    if (left < 0) break
    count++
  }
  return count
}

/** Drops half of a surrogate pair at the side where the text was cut. */
function whole(text: string, side: 'start' | 'end'): string {
  return side === 'end' ? text.replace(/[\ud800-\udbff]$/, '') : text.replace(/^[\udc00-\udfff]/, '')
}
