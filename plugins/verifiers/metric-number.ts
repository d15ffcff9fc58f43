const anyNumber = /[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?/g

/** The number that a program printed: the first group of the last match of the pattern, or the last number at all. */
export function readNumber(text: string, pattern?: string): number | null {
  const plain = Bun.stripANSI(text)
  const found = pattern === undefined ? last(plain, anyNumber) : last(plain, new RegExp(pattern, 'gm'))
  if (found === null) return null
  const [whole, group] = found
  const value = Number((group ?? whole).replaceAll(/[_,\s%]/g, ''))
  return (group ?? whole).trim() !== '' && Number.isFinite(value) ? value : null
}

function last(text: string, pattern: RegExp): RegExpMatchArray | null {
  let found: RegExpMatchArray | null = null
  for (const match of text.matchAll(pattern)) found = match
  return found
}
