import { describe, expect, test } from 'bun:test'
import { builtinPrompts } from '../../src/assets/prompts.ts'
import { type PromptValues, render } from '../../src/assets/render.ts'
import { estimateTokens } from '../../src/machine/tokens.ts'
import { seeded } from '../machine/builders.ts'

const marker = 'k7f3q9'
const parts = [
  'diff',
  'artifact_content',
  'task_brief',
  'next_hint',
  'acceptance_criteria',
  'verdict',
] as const
const alphabets = [
  'abc def\n',
  'ж ё\n',
  '漢字かな한글。',
  '👩‍🚀𠮷𝄞',
  `>>> diff ${marker}\n`,
  '\u0000\u202e\u{e0041}',
  '{diff}{task_brief}$&',
]
const roles = ['loop-implement.md', 'loop-verifier.md', 'loop-orchestrate.md', 'decompose.md'] as const

/** A text of about `length` code units; halves of characters may stand at its seams. */
function text(random: (n: number) => number, length: number): string {
  const pieces: string[] = []
  for (let size = 0; size < length; ) {
    const piece = (alphabets[random(alphabets.length)] ?? '').repeat(1 + random(length / 4))
    pieces.push(piece.slice(0, length - size))
    size += piece.length
  }
  return pieces.join('')
}

function check(template: string, values: PromptValues, budgetTokens: number) {
  const rendered = render({ template, values, budgetTokens, marker })
  expect(estimateTokens(rendered.text)).toBeLessThanOrEqual(budgetTokens)
  const fixed = template.split(
    /\{(?:diff|artifact_content|task_brief|next_hint|acceptance_criteria|verdict)\}/,
  )
  // The prompt's own words stay, in their order, and between them each text from outside in its fence.
  let from = 0
  for (const piece of fixed) {
    const own = piece
      .replaceAll('{current_task}', 'fix-it')
      .replaceAll('{output}', '/w/out.md')
      .replace(/\{\w+\}/g, '')
    const at = rendered.text.indexOf(own, from)
    expect(at).toBeGreaterThanOrEqual(from)
    from = at + own.length
  }
  for (const part of parts) {
    const value = values[part]
    if (!value || !template.includes(`{${part}}`)) continue
    const inside =
      rendered.text.split(`<<< ${part} ${marker}\n`)[1]?.split(`\n>>> ${part} ${marker}`)[0] ?? ''
    expect(inside).not.toBe('')
    expect(inside).not.toContain(marker)
    const wasCut = rendered.cut.find((cut) => cut.part === part)
    expect(inside.includes('characters cut …]')).toBe(wasCut !== undefined)
  }
  expect(rendered.cut.map((cut) => cut.part)).not.toContain('template')
}

describe('whatever comes in, a prompt fits its budget and keeps what must stay', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])('many small and middling texts, series %p', (seed) => {
    const random = seeded(seed)
    for (let run = 0; run < 60; run++) {
      const template = builtinPrompts.get(roles[random(roles.length)] ?? '') ?? ''
      const values: PromptValues = { current_task: 'fix-it', output: '/w/out.md' }
      for (const part of parts) if (random(4) > 0) values[part] = text(random, random(10 ** (1 + random(5))))
      check(template, values, 1500 + random(30_000))
    }
  })

  test.each([
    ['plain text', 'a line of a diff\n'],
    ['Chinese', '漢字'],
    ['characters that are written out', '\u202e'],
    ['the marker', marker],
  ])('10 MB of %s in the brief, the diff and the hint', (_, piece) => {
    const long = piece.repeat(Math.ceil(10_000_000 / piece.length))
    const values: PromptValues = {
      current_task: 'fix-it',
      output: '/w/out.md',
      task_brief: long,
      diff: long,
      next_hint: long,
    }
    for (const role of roles.slice(0, 2)) check(builtinPrompts.get(role) ?? '', values, 8000)
    const { cut } = render({ template: '{diff}', values, budgetTokens: 8000, marker })
    expect(cut[0]?.from).toBeGreaterThanOrEqual(10_000_000)
  })

  test('a template that is too long by itself is cut, says so, and still fits', () => {
    const random = seeded(9)
    for (let budget = 0; budget < 400; budget += 3) {
      const template = `${text(random, 3000)}{diff}${text(random, 3000)}`
      const rendered = render({ template, values: { diff: text(random, 500) }, budgetTokens: budget, marker })
      expect(estimateTokens(rendered.text)).toBeLessThanOrEqual(budget)
      expect(rendered.cut.at(-1)?.part).toBe('template')
    }
  })
})

test('Chinese text takes more of the budget than as many letters', () => {
  const cut = (letter: string) =>
    render({ template: '{diff}', values: { diff: letter.repeat(3000) }, budgetTokens: 1000, marker }).cut
  expect(cut('a')).toEqual([])
  const [{ part, from, to } = { part: '', from: 0, to: 0 }] = cut('漢')
  expect([part, from]).toEqual(['diff', 3000])
  expect(to).toBeLessThan(1550)
  expect(to).toBeGreaterThan(1300)
})

test('what was cut is said with its length before and after, and what went in can be had', () => {
  const values: PromptValues = { diff: 'd'.repeat(9000), next_hint: 'h'.repeat(5000), cwd: '/w' }
  const rendered = render({ template: '{diff}{next_hint}{cwd}', values, budgetTokens: 1500, marker })
  const shown = rendered.values
  expect(rendered.cut).toEqual([
    { part: 'diff', from: 9000, to: shown.diff?.length ?? 0 },
    { part: 'next_hint', from: 5000, to: shown.next_hint?.length ?? 0 },
  ])
  expect(rendered.text).toContain(`${shown.diff}\n>>> diff`)
  expect(shown).toMatchObject({ cwd: '/w', acceptance_criteria: '' })
})
