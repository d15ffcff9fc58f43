/** A place in a JSON text: a key of an object that stands under a key of the outermost one. */
export interface JsonPlace {
  section: string
  key: string
}

/**
 * Sets one number in a JSON text that people write, and leaves every other character as it is: order, spaces, line ends
 * and keys that nobody knows. What is missing is added, in the style of its surroundings. The text must be one object
 * without mistakes, its section an object if it is there.
 */
export function setNumber(text: string, { section, key }: JsonPlace, value: number): string {
  const outer = membersOf(text, text.indexOf('{'))
  const inside = outer.members.find((one) => one.key === section)
  if (!inside) return insert(text, outer, `${JSON.stringify(section)}: { ${JSON.stringify(key)}: ${value} }`)
  const inner = membersOf(text, inside.start)
  const found = inner.members.find((one) => one.key === key)
  if (!found) return insert(text, inner, `${JSON.stringify(key)}: ${value}`)
  return text.slice(0, found.start) + value + text.slice(found.end)
}

interface Member {
  key: string
  /** Where the value starts, and where it has ended. */
  start: number
  end: number
}

interface Members {
  /** After the opening brace. */
  open: number
  members: Member[]
}

/** The members of the object that starts at `at`. */
function membersOf(text: string, at: number): Members {
  const members: Member[] = []
  let here = skipSpace(text, at + 1)
  while (text[here] === '"') {
    const keyEnd = endOf(text, here)
    const key: unknown = JSON.parse(text.slice(here, keyEnd))
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = endOf(text, start)
    members.push({ key: String(key), start, end })
    here = skipSpace(text, end)
    if (text[here] === ',') here = skipSpace(text, here + 1)
  }
  return { open: at + 1, members }
}

/** As the first member, on a line of its own where the others are. */
function insert(text: string, { open, members }: Members, member: string): string {
  const space = /^\s*/.exec(text.slice(open))?.[0] ?? ''
  if (members.length === 0) return `${text.slice(0, open)} ${member} ${text.slice(open + space.length)}`
  return `${text.slice(0, open)}${space}${member},${space === '' ? ' ' : ''}${text.slice(open)}`
}

/** Where the value that starts here has ended. */
function endOf(text: string, at: number): number {
  if (text[at] === '"') {
    let here = at + 1
    while (text[here] !== '"') here += text[here] === '\\' ? 2 : 1
    return here + 1
  }
  if (text[at] !== '{' && text[at] !== '[') {
    const rest = /[\s,\]}]/g
    rest.lastIndex = at
    return rest.exec(text)?.index ?? text.length
  }
  let here = skipSpace(text, at + 1)
  while (text[here] !== '}' && text[here] !== ']') {
    here = text[here] === ',' || text[here] === ':' ? here + 1 : endOf(text, here)
    here = skipSpace(text, here)
  }
  return here + 1
}

function skipSpace(text: string, at: number): number {
  let here = at
  while (/\s/.test(text[here] ?? '')) here += 1
  return here
}
