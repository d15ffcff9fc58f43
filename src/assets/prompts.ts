import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import decompose from '../../prompts/decompose.md' with { type: 'text' }
import loopImplement from '../../prompts/loop-implement.md' with { type: 'text' }
import loopOrchestrate from '../../prompts/loop-orchestrate.md' with { type: 'text' }
import loopVerifier from '../../prompts/loop-verifier.md' with { type: 'text' }
import onboarding from '../../prompts/onboarding.md' with { type: 'text' }
import adversarialReview from '../../prompts/phases/adversarial_review.md' with { type: 'text' }
import bugHunt from '../../prompts/phases/bug_hunt.md' with { type: 'text' }
import codeReview from '../../prompts/phases/code_review.md' with { type: 'text' }
import decomposeGuide from '../../prompts/phases/decompose.md' with { type: 'text' }
import design from '../../prompts/phases/design.md' with { type: 'text' }
import implement from '../../prompts/phases/implement.md' with { type: 'text' }
import referee from '../../prompts/phases/referee.md' with { type: 'text' }
import type { Role } from '../api/harness.ts'
import type { Phase } from '../api/work.ts'
import { errors } from '../errors.ts'

/** The guide of each phase; the two phases that end work have none. */
const guides = {
  design,
  decompose: decomposeGuide,
  implement,
  code_review: codeReview,
  bug_hunt: bugHunt,
  adversarial_review: adversarialReview,
  referee,
  complete: '',
  human_intervention: '',
} satisfies Record<Phase, string>

/** The prompts inside the program, by the name that `loop.json` uses. */
export const builtinPrompts: ReadonlyMap<string, string> = new Map([
  ['loop-implement.md', loopImplement],
  ['loop-verifier.md', loopVerifier],
  ['loop-orchestrate.md', loopOrchestrate],
  ['onboarding.md', onboarding],
  ['decompose.md', decompose],
  ...Object.entries(guides)
    .filter(([, text]) => text !== '')
    .map(([phase, text]): [string, string] => [`phases/${phase}.md`, text]),
])

/** Where a prompt is looked for. */
export interface PromptQuery {
  /** A file's name, or, when it does not end in `.md`, the prompt itself. */
  ref: string
  loopDir: string
  home: string
  /** Names the place in `loop.json` when the prompt is not found. */
  role?: Role
}

/** A prompt and the place that it came from: a file's path, `built-in`, or `loop.json` for a prompt that is its text. */
export interface FoundPrompt {
  text: string
  from: string
}

const limit = 256 * 1024

/**
 * Finds a prompt: in the loop's folder, in `<home>/prompts`, then inside the program. Throws `bad_config` when a name
 * that ends in `.md` is nowhere, leaves those folders, or is something else than a plain file with text.
 */
export function findPrompt(query: PromptQuery): FoundPrompt {
  const { ref, loopDir, home } = query
  if (!ref.endsWith('.md') || ref.includes('\n')) return { text: ref, from: 'loop.json' }
  if (leaves(ref)) throw misplaced(query, 'which leaves the folder of the loop')
  for (const folder of [loopDir, join(home, 'prompts')]) {
    const text = readPrompt(join(folder, ref), query)
    if (text !== null) return { text, from: join(folder, ref) }
  }
  const text = builtinPrompts.get(ref)
  if (text === undefined) throw misplaced(query, 'which is nowhere')
  return { text, from: 'built-in' }
}

/** What a phase asks for, from `<home>/prompts/phases/<phase>.md` or inside the program; empty for phases that end work. */
export function phaseGuide(phase: Phase, home: string): string {
  const ref = `phases/${phase}.md`
  const folder = join(home, 'prompts')
  return readPrompt(join(folder, ref), { ref, loopDir: folder, home }) ?? guides[phase]
}

/** Follows no link: what it points to is watched by nobody. */
function readPrompt(file: string, query: PromptQuery): string | null {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (!stat) return null
  if (!stat.isFile()) throw misplaced(query, `but ${file} is no plain file`)
  if (stat.size > limit) throw misplaced(query, `but ${file} is longer than 256 KiB`)
  const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '')
  if (text.trim() === '') throw misplaced(query, `but ${file} is empty`)
  return text
}

function leaves(ref: string): boolean {
  return /^[/\\]|^[A-Za-z]:|\0/.test(ref) || ref.split(/[/\\]/).includes('..')
}

function misplaced({ ref, loopDir, home, role }: PromptQuery, why: string) {
  return errors.badConfig(
    join(loopDir, 'loop.json'),
    role ? `roles.${role}.prompt` : 'a prompt',
    `${JSON.stringify(ref)}, ${why}`,
    `a file in ${loopDir} or ${join(home, 'prompts')}, one of ${[...builtinPrompts.keys()].join(', ')}, or the text itself`,
  )
}
