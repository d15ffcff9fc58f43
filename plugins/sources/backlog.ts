import { definePlugin, type SourceContext, type WorkItem } from 'automaton'
import { backlogItems } from './backlog-items.ts'

/** Open tasks that people created, oldest first, then the open items of `design/<area>/BACKLOG.md`. */
export default definePlugin({
  name: 'backlog',
  api: 1,
  role: 'source',
  setup: () => ({
    source: {
      find: async (ctx) => [...humanTasks(ctx), ...(await backlogItems(ctx))],
    },
  }),
})

function humanTasks({ tasks, phases }: SourceContext): WorkItem[] {
  return tasks
    .filter(({ origin, phase, claimed_by }) => {
      return origin.kind === 'human' && claimed_by === null && phases.includes(phase)
    })
    .toSorted((a, b) => (a.created_at < b.created_at ? -1 : Number(a.created_at > b.created_at)))
    .map(({ task }) => ({ task }))
}
