import type { SourceContext } from '../../api/context.ts'
import { type Check, ensure, ensureSame, type Subject } from './check.ts'
import { sourceContext, taskView, violation } from './fakes.ts'

/** A project in which most sources find something. */
export const busyProject: SourceContext = sourceContext({
  task: 'mine',
  area: 'loops',
  tasks: [
    taskView('mine'),
    taskView('theirs', { claimed_by: 'pat' }),
    taskView('done', { phase: 'complete' }),
    taskView('stuck', { phase: 'human_intervention' }),
    taskView('early', { phase: 'design' }),
  ],
  audit: async () => [violation('src/a.ts'), violation('src/a.ts')],
  readProjectFile: async () => '- [ ] one\n- [ ] two\n- [ ] one\n',
})

/** What every source must do, whatever it looks at. */
export function sourceChecks({ host, name, options }: Subject): Check[] {
  const find = (ctx: SourceContext) => host.find(name, options, ctx)
  return [
    {
      name: 'answers the same twice for the same project',
      async run() {
        const first = await find(busyProject)
        ensureSame(await find(busyProject), first, 'the second answer is')
      },
    },
    {
      name: 'offers no task that a person has, that is finished, or whose phase the loop may not work',
      async run() {
        for (const item of await find(busyProject)) {
          if (!('task' in item) || 'close' in item) continue
          const bad = ['theirs', 'done', 'stuck', 'early'].includes(item.task)
          ensure(!bad, `it offers the task ${JSON.stringify(item.task)}`)
        }
      },
    },
    {
      name: 'offers nothing twice',
      async run() {
        const keys = (await find(busyProject)).map((item) => ('task' in item ? item.task : item.fingerprint))
        const twice = keys.find((key, i) => keys.indexOf(key) !== i)
        ensure(twice === undefined, `it offers ${JSON.stringify(twice)} twice`)
      },
    },
    {
      name: 'changes nothing that it was given',
      async run() {
        const before = structuredClone(busyProject.tasks)
        const tasks = busyProject.tasks.map((task) => Object.freeze({ ...task }))
        await find({ ...busyProject, tasks: Object.freeze(tasks) })
        ensureSame(tasks, before, 'the tasks are')
      },
    },
    {
      name: 'says what is wrong, or that there is nothing, in an empty project',
      async run() {
        const answer = await find(sourceContext()).catch((error: unknown) => String(error))
        if (typeof answer !== 'string') return ensureSame(answer, [], 'it finds')
        const said = `plugin "${name}" failed in find: `
        ensure(answer.includes(said), `it fails without a reason of its own: ${answer}`)
      },
    },
  ]
}
