/** One open item of a backlog. */
export interface BacklogItem {
  /** One line, without Markdown around it. */
  title: string
  /** What stands below it, without its indentation; empty when there is nothing. */
  body: string
  /** The heading that it stands under; empty for an item that is a heading. */
  section: string
  /** The anchor of its heading, as GitHub makes it; empty without one. */
  anchor: string
}

interface Section {
  level: number
  heading: string
  lines: string[]
  /** Under a heading such as "Done", or struck out. */
  closed: boolean
  hasChildren: boolean
}

const closedHeading =
  /^(?:done|closed|completed?|finished|shipped|rejected|declined|dropped|archived?|deferred|won'?t (?:do|fix))\b/i
const checkbox = /^(\s*)[-*+] \[([ xX])\](?: +(.*))?$/

/**
 * Reads the open items of a backlog: `- [ ]` items with what is indented below them, and each heading from level 2 on
 * that has text but no checkboxes of its own. In a file without checkboxes a heading without text counts too. What is
 * ticked, struck out, or under a heading such as "Done" is closed. Fenced code and HTML comments hold no items.
 */
export function parseBacklog(markdown: string): BacklogItem[] {
  const lines = markdown
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    // To Markdown these end no line; to a pattern's "any character" they do.
    .replace(/[\u2028\u2029]/g, ' ')
    .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
    .split('\n')
  const sections = split(lines)
  const hasBoxes = sections.some(({ lines }) => lines.some((line) => checkbox.test(line)))
  return sections
    .filter(({ closed }) => !closed)
    .flatMap((section) => {
      const { heading, level, lines, hasChildren } = section
      if (lines.some((line) => checkbox.test(line))) return boxes(section)
      const body = lines.join('\n').trim()
      const isItem = level >= 2 && (body === '' ? !hasChildren && !hasBoxes : true)
      return isItem ? [{ title: plain(heading), body, section: '', anchor: anchorOf(heading) }] : []
    })
}

/** Cuts the text at its headings; lines of fenced code are never headings. */
function split(lines: readonly string[]): Section[] {
  const sections: Section[] = [{ level: 0, heading: '', lines: [], closed: false, hasChildren: false }]
  const open: Section[] = []
  for (const { line, code } of marked(lines)) {
    const [, marks, heading] = (code ? null : /^ {0,3}(#{1,6}) +(.*?)(?: +#+)? *$/.exec(line)) ?? []
    if (marks === undefined || heading === undefined) {
      sections.at(-1)?.lines.push(line)
      continue
    }
    while ((open.at(-1)?.level ?? 0) >= marks.length) open.pop()
    const parent = open.at(-1)
    if (parent) parent.hasChildren = true
    const closed =
      (parent?.closed ?? false) || closedHeading.test(plain(heading)) || /^~~.*~~$|\[[xX]\]|✅/.test(heading)
    const section = { level: marks.length, heading, lines: [], closed, hasChildren: false }
    sections.push(section)
    open.push(section)
  }
  return sections
}

function boxes({ heading, lines }: Section): BacklogItem[] {
  const items: BacklogItem[] = []
  let current: { indent: number; body: string[] } | null = null
  const bodies: string[][] = []
  for (const { line, code } of marked(lines)) {
    const [, space = '', tick, title = ''] = (code ? null : checkbox.exec(line)) ?? []
    const indent = line.search(/\S/)
    // A box below an item is a step of it.
    if (current && (code || indent === -1 || indent > current.indent)) {
      current.body.push(line)
    } else if (tick !== undefined) {
      current = { indent: space.length, body: [] }
      if (tick !== ' ' || plain(title) === '' || /^~~.*~~$/.test(title)) continue
      items.push({ title: plain(title), body: '', section: plain(heading), anchor: anchorOf(heading) })
      bodies.push(current.body)
    } else {
      current = null
    }
  }
  return items.map((item, index) => ({ ...item, body: dedent(bodies[index] ?? []) }))
}

function* marked(lines: readonly string[]): Generator<{ line: string; code: boolean }> {
  let fence: string | null = null
  for (const line of lines) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? null
    const code = fence !== null || mark !== null
    yield { line, code }
    if (fence === null) fence = mark
    else if (mark?.startsWith(fence)) fence = null
  }
}

function dedent(lines: readonly string[]): string {
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const least = Math.min(...indents)
  return lines
    .map((line) => line.slice(Number.isFinite(least) ? least : 0))
    .join('\n')
    .trim()
}

/** A title is used outside of Markdown: links and marks of emphasis go. */
function plain(text: string): string {
  return text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[*_`]{1,3}(\S(?:.*?\S)?)[*_`]{1,3}/g, '$1')
    .trim()
}

function anchorOf(heading: string): string {
  return plain(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}
