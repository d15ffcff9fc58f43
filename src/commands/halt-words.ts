import type { Halt } from '../machine/state.ts'

/** Details that are written down as one word, as sentences. */
const sentences: Readonly<Record<string, string>> = {
  copied: 'this project is a copy of one whose loop may tick as well',
  budget_unknown: 'there is a money cap, and a session did not say what it cost',
  credit: 'the agent is out of credit: add some, or choose another harness or model in loop.json',
  escalated: 'its task was handed to a person',
  harness_error: 'too many sessions in a row failed',
  login: 'the agent is not logged in: log it in, or hand its key over with harness.env in loop.json',
  model_divergence: 'implement and verify would run the same model',
  'primary checkout changed': 'your own checkout changed during a session',
  repaired: 'its state was rebuilt by "automaton repair"',
  repeated_crash: 'too many ticks in a row died half-way',
  session_lives: 'what a session started could not be ended, and may still run',
  'tamper:branch':
    'its branch does not go on from its last verified commit: it was reset, rebased or amended',
  'tamper:rollback':
    'its branch has commits of ticks that its state and log know nothing of: older ones were put back',
  'task:human_intervention': 'its task waits for a person',
}

/** What can be tampered with besides files that are named as they are. */
const tampered: Readonly<Record<string, string>> = {
  'base-branch': 'the base branch',
  branch: 'the branch of the loop',
  config: 'the settings of git',
  gitfile: 'the .git file of the worktree',
  head: 'the HEAD of the worktree',
  refs: 'the refs of the repository',
  worktree: 'the place of the worktree',
}

/** Why a loop halted, as people say it. The word itself (`harness_error`, `tamper:loop.json`) is for programs. */
export function haltWords({ reason, detail }: Pick<Halt, 'reason' | 'detail'>): string {
  const sentence = Object.hasOwn(sentences, detail) ? sentences[detail] : undefined
  if (sentence !== undefined) return sentence
  if (detail.startsWith('tamper:')) return `${nameOf(detail)} changed, and no session may touch it`
  if (detail.startsWith('task:')) return `its task is in ${detail.slice(5)}, which this loop may not work`
  const files = /^(\d+) out of scope$/.exec(detail)?.[1]
  if (files !== undefined) return `${files} ${files === '1' ? 'file' : 'files'} out of scope`
  return detail || reason
}

/** A file of a halt; what was tampered with is listed among them by its mark. */
export function haltFile(file: string): string {
  return file.startsWith('tamper:') ? nameOf(file) : file
}

function nameOf(mark: string): string {
  const name = mark.slice('tamper:'.length)
  if (name.startsWith('config:')) return `git's setting ${name.slice('config:'.length)}`
  return (Object.hasOwn(tampered, name) ? tampered[name] : undefined) ?? name
}
