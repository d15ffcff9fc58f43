import type { SourceContext, WorkItem } from 'automaton'

type NewItem = Extract<WorkItem, { fingerprint: string }>

/**
 * Leaves out what has a task already that a loop should not take up: a finished one waits for a person to merge it, and
 * until then what it came from still stands there; made again it would be worked for ever. An open task that may be
 * worked stands in for its item.
 */
export function unfinished(items: readonly NewItem[], { tasks, phases }: SourceContext): WorkItem[] {
  const seen = new Set<string>()
  return items.flatMap((item): WorkItem[] => {
    if (seen.has(item.fingerprint)) return []
    seen.add(item.fingerprint)
    const made = tasks.filter(({ origin }) => origin.fingerprint === item.fingerprint)
    const open = made.find(({ phase }) => phase !== 'complete')
    if (!open) return made.length === 0 ? [item] : []
    return open.claimed_by === null && phases.includes(open.phase) ? [{ task: open.task }] : []
  })
}
