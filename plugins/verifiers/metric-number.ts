/** A number, with what a comma joins to it: `1,234.5`, but also `0,85` and `3,4`, which are none that can be told. */
const anyNumber = /[-+]?(?:\d[\d_]*(?:,\d+)*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/g
const thousands = /^[-+]?\d{1,3}(?:,\d{3})+(?![\d,])/

/**
 * The number that a program printed: the first group of the last match of the pattern, or the last number at all. A
 * comma is read between thousands only: elsewhere it may stand for a point, and a number that is wrong passes a check.
 */
export function readNumber(text: string, pattern?: string): number | null {
  const plain = Bun.stripANSI(text)
  const found = pattern === undefined ? last(plain, anyNumber) : last(plain, new RegExp(pattern, 'gm'))
  if (found === null) return null
  const [whole, group] = found
  const digits = (group ?? whole).replaceAll(/[_\s%]/g, '')
  if (digits.includes(',') && !thousands.test(digits)) return null
  const value = Number(digits.replaceAll(',', ''))
  return digits !== '' && Number.isFinite(value) ? value : null
}

function last(text: string, pattern: RegExp): RegExpMatchArray | null {
  let found: RegExpMatchArray | null = null
  for (const match of text.matchAll(pattern)) found = match
  return found
}
