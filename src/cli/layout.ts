/** Columns that a text takes in a terminal. */
export function widthOf(text: string): number {
  return Bun.stringWidth(text)
}

/** The text, or its beginning and an ellipsis when it is wider. */
export function clip(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  for (const segment of charactersOf(text)) {
    if (widthOf(kept + segment) > width - 1) break
    kept += segment
  }
  return `${kept}…`
}

/** The text, filled up with spaces to the right. */
export function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

/** Lines no wider than the page, broken at spaces; a word that is too long by itself is broken where it must be. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.split(' ').flatMap((long) => pieces(long, width))) {
      if (line && widthOf(line) + 1 + widthOf(word) > width) {
        lines.push(line)
        line = word
      } else line = line ? `${line} ${word}` : word
    }
    lines.push(line)
  }
  return lines
}

/** A text beside what stands left of it, its further lines below its first. */
export function hang(left: string, text: string, width: number): string[] {
  const margin = ' '.repeat(widthOf(left))
  return wrap(text, width - margin.length).map((line, i) => (i === 0 ? left : margin) + line)
}

/** A label and its text, wrapped beside it. Nothing is shown for an empty text. */
export function field(label: string, text: string | null, width: number, indent = 2): string[] {
  return text ? hang(' '.repeat(indent) + pad(label, labelWidth), text, width) : []
}

/** Rows under headings, columns as wide as their content needs; the last column takes and clips what is left. */
export function table(headings: string[], rows: string[][], width: number): string[] {
  const all = [headings, ...rows]
  const last = headings.length - 1
  const widths = headings.map((_, i) => Math.max(...all.map((row) => widthOf(row[i] ?? ''))))
  let over = widths.reduce((sum, w) => sum + w + gap.length, -gap.length) - width
  while (over > 0) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= 6) break
    widths[widest] = (widths[widest] ?? 0) - 1
    over--
  }
  return all.map((row) =>
    row
      .map((cell, i) =>
        i === last ? clip(cell, widths[i] ?? 0) : pad(clip(cell, widths[i] ?? 0), widths[i] ?? 0),
      )
      .join(gap)
      .trimEnd(),
  )
}

/** The text with every line moved to the right. */
export function indent(text: string, by: number): string {
  return text.replace(/^(?=.)/gm, ' '.repeat(by))
}

const gap = '  '
const labelWidth = 12

function pieces(word: string, width: number): string[] {
  if (widthOf(word) <= width) return [word]
  const parts: string[] = []
  let part = ''
  for (const segment of charactersOf(word)) {
    if (widthOf(part + segment) > width) {
      parts.push(part)
      part = ''
    }
    part += segment
  }
  return part ? [...parts, part] : parts
}

/** What a person would call characters. The segmenter takes a while to make, and plain text needs none. */
function charactersOf(text: string): string[] {
  if (/^[\x20-\x7e]*$/.test(text)) return text.split('')
  return [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment)
}
