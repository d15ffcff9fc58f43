import { definePlugin } from 'automaton'

/** The one task that `work_source.task` names, while it may be worked. */
export default definePlugin({
  name: 'single',
  api: 1,
  role: 'source',
  setup: () => ({
    source: {
      find({ task, tasks, phases }) {
        if (task === null) throw new Error('work_source.task names no task')
        const found = tasks.find((known) => known.task === task)
        const isFree = !found || (found.claimed_by === null && phases.includes(found.phase))
        return isFree ? [{ task }] : []
      },
    },
  }),
})
