/** One pattern of `file_scope`, taken apart once. */
export interface Glob {
  parts: Part[]
  /** The pattern names a folder, or has no wildcard: what lies below matches too. */
  isPrefix: boolean
}

/** One folder or file name of a pattern. */
interface Part {
  /** `**`: any number of folders. */
  isDeep: boolean
  tokens: Token[]
  /** The characters before the first wildcard. */
  literal: string
  isLiteral: boolean
}

type Token = { kind: 'literal'; char: string } | { kind: 'any' } | { kind: 'star' } | Set_
type Set_ = { kind: 'set'; negated: boolean; ranges: [string, string][] }

/** Asked for each name that a pattern's part is about to cover; null stands for a `**` or for "below the prefix". */
export type MayCover = (name: string, part: { literal: string; isLiteral: boolean } | null) => boolean

/** Takes a pattern apart; null for one that can match nothing inside the project. */
export function compileGlob(pattern: string): Glob | null {
  const names = pattern.split('/').filter((name) => name !== '' && name !== '.')
  if (pattern.trim() === '' || names.includes('..')) return null
  const parts = names.map(compilePart)
  return { parts, isPrefix: pattern.endsWith('/') || parts.every((part) => part.isLiteral) }
}

/** Whether the pattern matches the path's names. Time grows with their product, never faster. */
export function matchGlob(glob: Glob, names: readonly string[], mayCover: MayCover): boolean {
  // reached[i]: the parts so far can match the first i names.
  let reached = names.map(() => false)
  reached.unshift(true)
  for (const part of glob.parts) {
    const next = reached.map(() => false)
    if (part.isDeep) next[0] = reached[0] ?? false
    for (const [i, name] of names.entries()) {
      if (part.isDeep) next[i + 1] = reached[i + 1] || (next[i] === true && mayCover(name, null))
      else next[i + 1] = reached[i] === true && matchName(part.tokens, name) && mayCover(name, part)
    }
    reached = next
  }
  if (reached.at(-1)) return true
  if (!glob.isPrefix) return false
  for (let i = names.length - 1, isFree = true; i >= 0; i--) {
    isFree = isFree && mayCover(names[i] ?? '', null)
    if (isFree && reached[i]) return true
  }
  return false
}

function compilePart(source: string): Part {
  const tokens = tokensOf([...source])
  const wild = tokens.findIndex((token) => token.kind !== 'literal')
  const plain = wild === -1 ? tokens : tokens.slice(0, wild)
  const literal = plain.map((token) => (token.kind === 'literal' ? token.char : '')).join('')
  return { isDeep: source === '**', tokens, literal, isLiteral: wild === -1 }
}

function tokensOf(chars: readonly string[]): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ''
    const next = chars[at + 1]
    if (char === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' })
    } else if (char === '?') tokens.push({ kind: 'any' })
    else if (char === '\\' && next !== undefined) {
      tokens.push({ kind: 'literal', char: next })
      at++
    } else {
      const set = char === '[' ? setAt(chars, at) : null
      tokens.push(set?.token ?? { kind: 'literal', char })
      at = set?.end ?? at
    }
  }
  return tokens
}

/** A bracket expression; null when it is not closed, so that the bracket stands for itself. */
function setAt(chars: readonly string[], open: number): { token: Set_; end: number } | null {
  const negated = chars[open + 1] === '!' || chars[open + 1] === '^'
  const first = open + (negated ? 2 : 1)
  // A closing bracket in the first place stands for itself.
  const end = chars.indexOf(']', first + 1)
  if (end === -1) return null
  const ranges: [string, string][] = []
  for (let at = first; at < end; at++) {
    const from = chars[at] ?? ''
    const to = chars[at + 2]
    const isRange = chars[at + 1] === '-' && at + 2 < end && to !== undefined
    ranges.push([from, isRange ? to : from])
    if (isRange) at += 2
  }
  return { token: { kind: 'set', negated, ranges }, end }
}

/** The two-pointer walk: only the last star is ever tried again. */
function matchName(tokens: readonly Token[], name: string): boolean {
  const chars = [...name]
  let token = 0
  let char = 0
  let star = -1
  let starChar = 0
  while (char < chars.length) {
    const current = tokens[token]
    if (current?.kind === 'star') {
      star = token++
      starChar = char
    } else if (current && matchChar(current, chars[char] ?? '')) {
      token++
      char++
    } else if (star !== -1) {
      token = star + 1
      char = ++starChar
    } else return false
  }
  return tokens.slice(token).every((rest) => rest.kind === 'star')
}

function matchChar(token: Exclude<Token, { kind: 'star' }>, char: string): boolean {
  switch (token.kind) {
    case 'literal':
      return token.char === char
    case 'any':
      return true
    case 'set':
      return token.ranges.some(([from, to]) => from <= char && char <= to) !== token.negated
  }
}
