import { describe, expect, test } from 'bun:test'
import { lineLength, quoteWord, scriptLine } from '../../../src/system/windows/command-line.ts'

describe('a word on a command line', () => {
  const words: [string, string][] = [
    ['plain', 'plain'],
    ['', '""'],
    ['two words', '"two words"'],
    ['C:\\a\\b', 'C:\\a\\b'],
    ['C:\\a b\\', '"C:\\a b\\\\"'],
    ['say "hi"', '"say \\"hi\\""'],
    ['a\\"b', '"a\\\\\\"b"'],
    ['tab\there', '"tab\there"'],
  ]
  test.each(words)('%s', (word, quoted) => {
    expect(quoteWord(word)).toBe(quoted)
  })

  test('counts with its quotes and the space before the next', () => {
    expect(lineLength(['a.exe', 'two words', ''])).toBe('a.exe "two words" ""'.length)
  })
})

describe('a script gets only words that mean nothing to the command interpreter', () => {
  test('plain words and paths pass, quoted where they hold spaces', () => {
    const line = scriptLine('C:\\Program Files (x86)\\a b.cmd', ['run', 'C:\\x y\\', '--model', 'a/b:c'])
    expect(line).toBe('""C:\\Program Files (x86)\\a b.cmd" run "C:\\x y\\\\" --model a/b:c"')
  })

  const bad = [
    'a&b',
    '%PATH%',
    'a"b',
    'a^b',
    'a|b',
    '<in',
    '>out',
    'a\nb',
    'a\rb',
    '!x!',
    '(a)',
    'a;b',
    'a\0b',
  ]
  test.each(bad)('%j is refused', (word) => {
    expect(scriptLine('C:\\a.cmd', [word])).toBeNull()
  })

  test('a script whose own path holds such characters is refused', () => {
    for (const path of ['C:\\a&b.cmd', 'C:\\%x%\\a.cmd', 'C:\\a!.cmd'])
      expect(scriptLine(path, [])).toBeNull()
  })
})
