import { describe, expect, test } from 'bun:test'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { phases } from '../../src/api/work.ts'
import { builtinPrompts, findPrompt, phaseGuide } from '../../src/assets/prompts.ts'
import { render } from '../../src/assets/render.ts'
import { writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

function places(dir: { path: string }) {
  return { loopDir: join(dir.path, 'loop'), home: join(dir.path, 'home') }
}

describe('findPrompt', () => {
  test('looks in the loop, then in HOME, then inside the program', () => {
    using dir = tempDir()
    const at = places(dir)
    expect(findPrompt({ ref: 'loop-verifier.md', ...at })).toMatchObject({ from: 'built-in' })
    writeFiles(dir.path, { 'home/prompts/loop-verifier.md': 'of home' })
    expect(findPrompt({ ref: 'loop-verifier.md', ...at })).toEqual({
      text: 'of home',
      from: join(at.home, 'prompts/loop-verifier.md'),
    })
    writeFiles(dir.path, { 'loop/loop-verifier.md': '\ufeffof the loop' })
    expect(findPrompt({ ref: 'loop-verifier.md', ...at })).toEqual({
      text: 'of the loop',
      from: join(at.loopDir, 'loop-verifier.md'),
    })
  })

  test('a text that is no file name is the prompt itself', () => {
    const at = { loopDir: '/nowhere', home: '/nowhere' }
    expect(findPrompt({ ref: 'Grade {artifact_content}', ...at }).text).toBe('Grade {artifact_content}')
    expect(findPrompt({ ref: 'Read\nthen write to x.md', ...at }).from).toBe('loop.json')
  })

  test('a name that is nowhere is an error that says where it was looked for', () => {
    const query = { ref: 'verify.md', loopDir: '/l', home: '/h', role: 'verify' as const }
    expect(() => findPrompt(query)).toThrow(
      'bad configuration (/l/loop.json): roles.verify.prompt is "verify.md", which is nowhere; allowed: a file in /l or /h/prompts, one of loop-implement.md',
    )
  })

  test('a name cannot leave its folders, and a link is not followed', () => {
    using dir = tempDir()
    const at = places(dir)
    writeFiles(dir.path, { 'secret.md': 'x', 'loop/empty.md': ' \n' })
    for (const ref of ['../secret.md', 'a/../../secret.md', join(dir.path, 'secret.md'), 'a\\..\\..\\x.md']) {
      expect(() => findPrompt({ ref, ...at })).toThrow('leaves the folder')
    }
    symlinkSync(join(dir.path, 'secret.md'), join(at.loopDir, 'link.md'))
    expect(() => findPrompt({ ref: 'link.md', ...at })).toThrow('is no plain file')
    expect(() => findPrompt({ ref: 'empty.md', ...at })).toThrow('is empty')
  })
})

describe('the prompts inside the program', () => {
  const known = new Set(
    'task_brief acceptance_criteria next_hint current_task current_phase file_scope context_budget verdict artifact_content diff output cwd model phase_guide'.split(
      ' ',
    ),
  )

  for (const [name, text] of builtinPrompts) {
    test(`${name} is short and names only tokens that exist`, () => {
      expect(text.length).toBeLessThan(4000)
      expect(text.length).toBeGreaterThan(100)
      for (const [, token = ''] of text.matchAll(/\{([a-z_]+)\}/g)) expect(known).toContain(token)
    })
  }

  test('every role prompt still fits the smallest context with its texts cut', () => {
    const values = {
      diff: 'd'.repeat(200_000),
      artifact_content: 'a'.repeat(90_000),
      task_brief: 'b'.repeat(9000),
    }
    for (const name of ['loop-implement.md', 'loop-verifier.md', 'loop-orchestrate.md']) {
      const template = builtinPrompts.get(name) ?? ''
      const { text, cut } = render({ template, values, budgetTokens: 8000, marker: 'm' })
      expect(text.length).toBeLessThanOrEqual(32_000)
      expect(cut.map(({ part }) => part)).not.toContain('template')
    }
  })

  test('implement and verify carry the guide of the phase, and the places that work goes to', () => {
    for (const name of ['loop-implement.md', 'loop-verifier.md']) {
      expect(builtinPrompts.get(name)).toContain('{phase_guide}')
      expect(builtinPrompts.get(name)).toContain('$AUTOMATON_OUTPUT')
    }
    expect(builtinPrompts.get('loop-implement.md')).toContain('git push')
  })

  test('the verifier prompt holds a verdict that is one, and the rubric', () => {
    const text = builtinPrompts.get('loop-verifier.md') ?? ''
    const verdict: unknown = JSON.parse(/^\{"pass".*\}$/m.exec(text)?.[0] ?? '')
    expect(verdict).toEqual({
      pass: false,
      score: 0.5,
      reasons: [expect.any(String)],
      next_hint: expect.any(String),
    })
    for (const score of ['1.0', '0.75', '0.5', '0.25', '0.0']) expect(text).toContain(score)
  })

  test('the orchestrate prompt names exactly the three operations, and the object that stands for one', () => {
    const text = builtinPrompts.get('loop-orchestrate.md') ?? ''
    const commands = [...text.matchAll(/^- `automaton (\w+)/gm)].map(([, verb]) => verb)
    expect(commands).toEqual(['transition', 'escalate', 'hold'])
    expect(JSON.parse(/^\{"action".*\}$/m.exec(text)?.[0] ?? '')).toMatchObject({ action: 'transition' })
  })

  test('each guide names its artifact and the verdict lines that leave its phase', () => {
    const wanted: Record<string, string[]> = {
      implement: ['IMPLEMENTATION.md'],
      code_review: ['CODE_REVIEW.md', 'Verdict: PASS', 'Verdict: CHANGES'],
      bug_hunt: ['BUG_REPORT.md', 'Verdict: CLEAN', 'Verdict: BUGS'],
      adversarial_review: ['ADVERSARIAL_BUG_REPORT.md'],
      referee: ['REFEREE.md', 'Verdict: APPROVED', 'Verdict: FIX', 'Verdict: BLOCKED'],
    }
    for (const phase of phases) {
      const guide = phaseGuide(phase, '/nowhere')
      for (const words of wanted[phase] ?? []) expect(guide).toContain(words)
    }
    expect(phaseGuide('complete', '/nowhere')).toBe('')
  })

  test('HOME may bring its own guide', () => {
    using dir = tempDir()
    writeFiles(dir.path, { 'prompts/phases/referee.md': 'Toss a coin.' })
    expect(phaseGuide('referee', dir.path)).toBe('Toss a coin.')
  })
})
