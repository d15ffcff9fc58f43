import type { HookEvents, Hooks } from 'automaton'
import * as v from 'valibot'

/** What a person is told. */
export interface Notice {
  event: 'halt' | 'complete'
  loop: string
  /** The project's folder. */
  project: string
  /** One line. */
  title: string
  /** Why, in one line. */
  text: string
  /** What to type, the first thing first. */
  commands: string[]
  /** The event as the hook got it. */
  details: HookEvents['halt'] | HookEvents['complete']
}

/** The option that every notifier takes: of what it tells. */
export const onOption = v.optional(
  v.pipe(v.array(v.picklist(['halt', 'complete'])), v.minLength(1, '"halt", "complete" or both')),
  ['halt', 'complete'],
)

/** Hooks that hand each event on as a notice. */
export function notifier(
  on: readonly ('halt' | 'complete')[],
  tell: (notice: Notice) => Promise<void>,
): Hooks {
  return {
    ...(on.includes('halt') ? { halt: (event) => tell(haltNotice(event)) } : {}),
    ...(on.includes('complete') ? { complete: (event) => tell(completeNotice(event)) } : {}),
  }
}

/** The notice as plain text: a line of what, a line of why, and the commands. */
export function plainText({ title, text, commands }: Notice): string {
  return [title, text, ...commands].filter((line) => line !== '').join('\n')
}

function haltNotice(event: HookEvents['halt']): Notice {
  const { loop, reason, detail, haltId, project } = event
  const where = ` --project ${quoted(project)}`
  return {
    event: 'halt',
    loop,
    project,
    title: `automaton: loop ${loop} halted`,
    text: shown(detail === '' ? reason : `${reason}: ${detail}`),
    commands: [
      `automaton status ${loop}${where}`,
      `automaton approve --loop ${loop} --halt ${haltId}${where}`,
    ],
    details: event,
  }
}

function completeNotice(event: HookEvents['complete']): Notice {
  const { loop, task, project, fix } = event
  return {
    event: 'complete',
    loop,
    project,
    title: `automaton: loop ${loop} finished a task`,
    text: shown(task),
    commands: fix === '' ? [] : [fix],
    details: event,
  }
}

/** File names of an agent's work stand in some details: nothing of them may steer a terminal or look like more lines. */
function shown(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').slice(0, 500)
}

function quoted(path: string): string {
  return /^[\w./@%+=:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}
