import type { AuditFacts, AuditRule } from './types.ts'

/** A source file that no test names, by its file name with or without the ending. */
export const untestedSource: AuditRule = {
  name: 'untested-source',
  severity: 'MEDIUM',
  isWorkable: true,
  find: (facts) => {
    const named = namesInTests(facts)
    return facts.sources
      .filter((path) => !namesOf(path).some((name) => named.has(name)))
      .map((path) => ({ place: path, task: null, path, message: `${path}: no test names it` }))
  },
}

/** Every word of every test, collected once, so that the time is that of reading the tests. */
function namesInTests({ tests }: AuditFacts): ReadonlySet<string> {
  const named = new Set<string>()
  for (const { path, text } of tests) {
    for (const word of wordsOf(path)) named.add(word)
    for (const word of wordsOf(text)) named.add(word)
  }
  return named
}

/** `bar.test.ts` names `bar`; `./foo/bar.ts` names `bar.ts`, and so `bar`. */
function* wordsOf(text: string): Generator<string> {
  for (const [word] of text.matchAll(/[\w.-]+/g)) {
    yield word
    yield word.replace(/^(?:test_|spec_)/, '').replace(/(?:[._-](?:test|spec|tests))?\.[A-Za-z0-9]+$/, '')
  }
}

function namesOf(path: string): string[] {
  const parts = path.split('/')
  const file = parts.at(-1) ?? path
  const stem = file.replace(/\.[A-Za-z0-9]+$/, '')
  const folder = parts.at(-2)
  // An index file goes by its folder's name.
  return /^(?:index|mod|__init__)$/.test(stem) && folder !== undefined ? [folder] : [file, stem]
}
