import { pad, widthOf, wrap } from './layout.ts'

/**
 * What to do, beside what stands left of it. Prose is wrapped; a command in it stays whole and on one line, even one
 * wider than the page, so that it can be copied.
 */
export function advice(left: string, text: string, width: number): string[] {
  const margin = widthOf(left)
  const lines: string[] = []
  let line = ''
  for (const unit of units(text, width - margin)) {
    if (line === '') line = unit
    else if (widthOf(line) + 1 + widthOf(unit) <= width - margin) line += ` ${unit}`
    else {
      lines.push(line)
      line = unit
    }
  }
  return [...lines, line].map((each, i) => (i === 0 ? left : ' '.repeat(margin)) + each)
}

/** The same beside a label, as wide as that of a field. */
export function adviceField(label: string, text: string, width: number): string[] {
  return advice(`  ${pad(label, 12)}`, text, width)
}

/** A command begins the text or follows a colon, comma or semicolon, and ends before the next of the last two. */
const command =
  /(?<=^|[:,;] (?:or |then )?)(?:automaton|git|npm|cd|chmod|edit|kill|rm|unset) (?:'[^']*'|"[^"]*"|[^,;'"])+[,;]?/g

/** The words of the prose, and each command as one. */
function units(text: string, width: number): string[] {
  const found: string[] = []
  const prose = (part: string) => {
    if (part.trim() !== '') found.push(...wrap(part.trim(), width).flatMap((line) => line.split(' ')))
  }
  let end = 0
  for (const match of text.matchAll(command)) {
    prose(text.slice(end, match.index))
    found.push(match[0].trimEnd())
    end = match.index + match[0].length
  }
  prose(text.slice(end))
  return found
}
