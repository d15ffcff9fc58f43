/** The estimate counts in twelfths of a token, in which both kinds of text are whole numbers. */
export const unitsPerToken = 12

const plain = 3
const dense = 8

/** Characters of ordinary text to a token. No text has more. */
export const charactersPerToken = unitsPerToken / plain

/**
 * What one UTF-16 code unit weighs, in twelfths of a token: four characters of ordinary text make a token, and one and
 * a half of Chinese, Japanese and Korean text. Halves of a surrogate pair, which are rare characters and emoji, share
 * the weight of one dense character.
 */
export function unitsOf(code: number): number {
  if (code < 0x1100) return plain
  if (code >= 0xd800 && code <= 0xdfff) return dense / 2
  return denseRanges.some(([first, last]) => code >= first && code <= last) ? dense : plain
}

/** About how many tokens the text takes, for any model. A plugin's hook `tokens:estimate` can know better. */
export function estimateTokens(text: string): number {
  let units = 0
  for (let at = 0; at < text.length; at++) units += unitsOf(text.charCodeAt(at))
  return Math.ceil(units / unitsPerToken)
}

/** Hangul letters; everything from the CJK radicals to Yi; more Hangul; CJK beyond; full-width forms. */
const denseRanges: readonly (readonly [number, number])[] = [
  [0x1100, 0x11ff],
  [0x2e80, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7ff],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe4f],
  [0xff00, 0xffef],
]
