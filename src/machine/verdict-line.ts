import type { Phase } from '../api/work.ts'
import { backPhase, nextPhase, verdictWays } from './phase-table.ts'

/**
 * The word of the artifact's last `Verdict:` line, such as `PASS`; null when the phase has no such line, when there is
 * none, or when the last one holds no word, or more than one, of this phase: a later unclear line takes back an earlier
 * clear one. Markdown around it and letter case make no difference.
 */
export function readVerdictLine(phase: Phase, artifact: string): string | null {
  const words = Object.keys(verdictWays(phase) ?? {})
  let found: string | null = null
  if (words.length === 0) return found
  for (const line of artifact.split(/\r\n|\r|\n/)) {
    const rest = afterVerdict(line)
    if (rest !== null) found = oneWord(rest, words)
  }
  return found
}

/** What follows `Verdict:` on a line that starts with it; null for any other line. */
function afterVerdict(line: string): string | null {
  if (line.length > 4000) return null
  const plain = line.replace(/[*_`~]/g, '').replace(/^[\s>#|+-]+|^\s*\d+[.)]\s+/, '')
  return /^(?:final\s+)?verdict\s*:(.*)$/i.exec(plain)?.[1] ?? null
}

/** `PASS` of `PASS, nothing to add`; null for `PASS or CHANGES`, which repeats the question. */
function oneWord(text: string, words: readonly string[]): string | null {
  const [first, separator, second] = text.match(/[a-z]+|[|/]/gi) ?? []
  const word = first?.toUpperCase()
  if (word === undefined || !words.includes(word)) return null
  const choice = separator !== undefined && /^(?:or|\||\/)$/i.test(separator)
  return choice && second !== undefined && words.includes(second.toUpperCase()) ? null : word
}

/**
 * Where the artifact leads by itself (orchestrate mode `rules`): forward for a phase without a `Verdict:` line, else
 * where its word says. Null: nowhere, because the word is missing or its phase is not kept.
 */
export function edgeByVerdict(of: { phase: Phase; artifact: string; kept: readonly Phase[] }): Phase | null {
  const ways = verdictWays(of.phase)
  if (ways === null) return nextPhase(of.phase, of.kept)
  const word = readVerdictLine(of.phase, of.artifact)
  const way = word === null ? undefined : ways[word]
  switch (way) {
    case 'forward':
      return nextPhase(of.phase, of.kept)
    case 'back':
      return backPhase(of.phase, of.kept)
    case 'blocked':
      return 'human_intervention'
    case undefined:
      return null
  }
}
