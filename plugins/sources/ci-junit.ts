/** A test that failed, as a JUnit report has it. */
export interface FailedCase {
  /** What it is called: the same in every run. */
  id: string
  /** The file that the report names; empty when it names none. */
  file: string
  /** The failure's message and what stands below it. */
  text: string
}

const longestText = 4000
/** Characters of a failure that are looked at. */
const longestBody = 20_000

/**
 * The failed cases of a JUnit XML report, each once. It reads what test runners write, and not XML in general: what it
 * does not know is passed over. Time grows with the length of the text.
 */
export function failedCases(xml: string): FailedCase[] {
  const failed = new Map<string, FailedCase>()
  let current: { id: string; file: string } | null = null
  for (const tag of tagsOf(xml)) {
    if (tag.name === 'testcase') {
      current = tag.isEnd ? null : nameOf(tag.attributes)
      if (tag.isEmpty) current = null
    } else if (current && !tag.isEnd && (tag.name === 'failure' || tag.name === 'error')) {
      const { id, file } = current
      if (failed.has(id)) continue
      const body = tag.isEmpty ? '' : bodyAfter(xml, tag.end, tag.name)
      const parts = [tag.attributes.get('message') ?? '', body].map((part) => part.trim())
      const text = [...new Set(parts)].filter((part) => part !== '').join('\n')
      failed.set(id, { id, file, text: text.slice(0, longestText) })
    }
  }
  return [...failed.values()]
}

interface Tag {
  name: string
  attributes: Map<string, string>
  isEnd: boolean
  isEmpty: boolean
  /** After its last character. */
  end: number
}

/** Walks from tag to tag; comments, declarations and CDATA are passed over. */
function* tagsOf(xml: string): Generator<Tag> {
  for (let at = xml.indexOf('<'); at !== -1; at = xml.indexOf('<', at)) {
    const skipped = ['<!--', '<![CDATA[', '<?'].find((open) => xml.startsWith(open, at))
    if (skipped) {
      const close = { '<!--': '-->', '<![CDATA[': ']]>', '<?': '?>' }[skipped] ?? '>'
      const end = xml.indexOf(close, at + skipped.length)
      if (end === -1) return
      at = end + close.length
      continue
    }
    const end = endOf(xml, at)
    if (end === -1) return
    const inside = xml.slice(at + 1, end)
    at = end + 1
    const name = /^\/?([\w:.-]+)/.exec(inside)?.[1]
    if (name === undefined) continue
    yield {
      name: name.slice(name.indexOf(':') + 1),
      attributes: attributesOf(inside),
      isEnd: inside.startsWith('/'),
      isEmpty: inside.endsWith('/'),
      end: end + 1,
    }
  }
}

/** The `>` that ends a tag: not one inside quotes. */
function endOf(xml: string, start: number): number {
  let quote = ''
  for (let at = start + 1; at < xml.length; at++) {
    const char = xml[at] ?? ''
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '>') return at
  }
  return -1
}

function attributesOf(tag: string): Map<string, string> {
  const found = tag.matchAll(/\s([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)
  return new Map([...found].map(([, name = '', double, single]) => [name, decode(double ?? single ?? '')]))
}

function nameOf(attributes: Map<string, string>): { id: string; file: string } {
  const named = [attributes.get('classname') ?? '', attributes.get('name') ?? '']
  return {
    id:
      [...new Set(named.map((part) => part.trim()))].filter((part) => part !== '').join(' > ') ||
      'a test without a name',
    file: attributes.get('file') ?? '',
  }
}

function bodyAfter(xml: string, start: number, name: string): string {
  const near = xml.slice(start, start + longestBody)
  const end = near.indexOf(`</${name}`)
  const body = end === -1 && near.length < longestBody ? '' : near.slice(0, end === -1 ? longestBody : end)
  const parts = body.split(/<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)/)
  return parts.map((part, i) => (i % 2 === 1 ? part : decode(part))).join('')
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function decode(text: string): string {
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(\w{2,4}));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? whole
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
  })
}
