import { expect, test } from 'bun:test'
import type { Ground } from '../../../src/system/sandbox/ground.ts'
import { seatbeltProfile } from '../../../src/system/sandbox/seatbelt.ts'

/** A list of words and lists, as Scheme writes it. */
type Form = string | Form[]

const ground: Ground = {
  cwd: '/p/w',
  tmp: '/private/var/t/automaton "x"',
  visible: [],
  rules: [
    { path: '/p', access: 'read', kind: 'folder' },
    { path: '/p/w', access: 'write', kind: 'folder' },
    { path: '/u/.ssh', access: 'hide', kind: 'folder' },
    { path: '/u/.netrc', access: 'hide', kind: 'file' },
    { path: '/p/w/.git', access: 'read', kind: 'file' },
    { path: '/u/.ssh/agent', access: 'write', kind: 'folder' },
    { path: '/p/w/deep/er/keys', access: 'hide', kind: 'folder' },
  ],
}
const profile = read(seatbeltProfile(ground))

test('the profile, read as macOS reads it, opens what the rules open and nothing else', () => {
  const cases: [path: string, operation: string, allowed: boolean][] = [
    ['/p/w/src/a.ts', 'file-write-data', true],
    ['/p/w', 'file-write-create', true],
    ['/p/w2', 'file-write-data', false],
    ['/p/other', 'file-write-data', false],
    ['/p/other', 'file-read-data', true],
    ['/p/w/.git', 'file-write-data', false],
    ['/p/w/.git', 'file-read-data', true],
    ['/private/var/t/automaton "x"/f', 'file-write-data', true],
    ['/private/var/t', 'file-write-create', false],
    ['/u/.ssh/id', 'file-read-data', false],
    ['/u/.ssh/agent/s', 'file-write-data', true],
    ['/u/.netrc', 'file-read-data', false],
    ['/u/.netrc2', 'file-read-data', true],
    ['/etc/hosts', 'file-write-data', false],
    ['/dev/null', 'file-write-data', true],
    ['/dev/ttys001', 'file-write-data', true],
    ['/dev/disk0', 'file-write-data', false],
    // Whoever moves a folder moves what is hidden in it.
    ['/p/w/deep', 'file-write-unlink', false],
    ['/p/w/deep/er', 'file-write-unlink', false],
    ['/p/w/deep/er/own', 'file-write-unlink', true],
  ]
  const wrong = cases.filter(([path, operation, allowed]) => decides(path, operation) !== allowed)
  expect(wrong).toEqual([])
})

test('the profile has only forms that macOS knows', () => {
  expect(profile[0]).toEqual(['version', '1'])
  const operations = [
    'default',
    'file-read*',
    'file-write*',
    'file-write-unlink',
    'appleevent-send',
    'lsopen',
    'signal',
  ]
  const filters = ['subpath', 'literal', 'regex', 'target']
  for (const [action, ...rest] of profile.slice(1).map((form) => form as Form[])) {
    expect(['allow', 'deny']).toContain(String(action))
    for (const part of rest) {
      if (typeof part === 'string') expect(operations).toContain(part)
      else expect(filters).toContain(String(part[0]))
    }
  }
})

/** Of the clauses that are about the operation and the path, the last one counts. */
function decides(path: string, operation: string): boolean {
  let allowed = false
  for (const [action, ...rest] of profile.slice(1).map((form) => form as Form[])) {
    const words = rest.filter((part) => typeof part === 'string')
    const about = words.some(
      (word) =>
        word === 'default' ||
        word === operation ||
        (word.endsWith('*') && operation.startsWith(word.slice(0, -1))),
    )
    const filters = rest.filter((part): part is string[] => Array.isArray(part))
    if (about && (filters.length === 0 || filters.some((filter) => fits(filter, path))))
      allowed = action === 'allow'
  }
  return allowed
}

function fits([kind, value = '']: string[], path: string): boolean {
  if (kind === 'literal') return path === value
  if (kind === 'regex') return new RegExp(value).test(path)
  return kind === 'subpath' && (path === value || path.startsWith(`${value}/`))
}

/** Reads Scheme: words, strings (a regular expression has `#` before it) and lists. Throws for what does not close. */
function read(text: string): Form[] {
  const tokens = text.match(/[()]|#?"(?:[^"\\]|\\.)*"|[^\s()"]+/g) ?? []
  const stack: Form[][] = [[]]
  for (const token of tokens) {
    if (token === '(') stack.push([])
    else if (token === ')') {
      const closed = stack.pop() ?? []
      stack.at(-1)?.push(closed)
    } else
      stack
        .at(-1)
        ?.push(token.startsWith('#') ? token.slice(2, -1) : token.startsWith('"') ? JSON.parse(token) : token)
  }
  const [forms, ...open] = stack
  if (!forms || open.length > 0) throw new Error('a list is not closed')
  return forms
}
