/** The candidate that needs the fewest typed changes, or null when none is near enough to be meant. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  let best: string | null = null
  let least = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const cost = candidate.startsWith(word) && word.length > 2 ? 1 : distance(word, candidate)
    // A word of which nothing is left was not meant.
    if (cost < least && cost < Math.max(word.length, candidate.length)) {
      least = cost
      best = candidate
    }
  }
  return best
}

/** All that there is, after the one that was probably meant, for the reason of an error. */
export function meantOf(word: string, candidates: readonly string[]): string {
  const near = nearest(word, candidates)
  return `${near === null ? '' : `did you mean "${near}"? `}there are ${candidates.join(', ')}`
}

/** Insertions, deletions and replacements that turn one word into the other (Levenshtein). */
export function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (above[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1))
    }
    above = row
  }
  return above[b.length] ?? 0
}
