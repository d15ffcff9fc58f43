import { describe, expect, test } from 'bun:test'
import type { Plugin, SourceContext, TaskView, Violation } from '../../src/api/index.ts'
import { createHost } from '../../src/plugin/host.ts'

/** What a source is given unless a test says otherwise: an empty project. */
export function sourceContext(change: Partial<SourceContext> = {}): SourceContext {
  return {
    loop: 'nightly',
    project: '/project',
    log() {},
    signal: new AbortController().signal,
    task: null,
    area: null,
    phases: ['implement', 'code_review'],
    tasks: [],
    audit: async () => [],
    readProjectFile: async () => null,
    ...change,
  }
}

/** A task as sources see it. */
export function taskView(task: string, change: Partial<TaskView> = {}): TaskView {
  return {
    task,
    phase: 'implement',
    claimed_by: null,
    origin: { kind: 'human', fingerprint: null },
    created_at: '2026-01-01T00:00:00.000Z',
    ...change,
  }
}

/** A violation that an agent could settle. */
export function violation(path: string, change: Partial<Violation> = {}): Violation {
  return {
    id: `untested-source:${path}`,
    severity: 'MEDIUM',
    rule: 'untested-source',
    task: null,
    path,
    message: `${path}: no test names it`,
    fingerprint: `f-${path}`,
    ...change,
  }
}

/** A project in which every built-in source finds something. */
const busy = sourceContext({
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
export function sourceContract(plugin: Plugin, options: unknown = {}): void {
  describe(`the source ${plugin.name}`, () => {
    const find = (ctx: SourceContext) =>
      createHost({ builtins: [plugin], log() {} }).find(plugin.name, options, ctx)

    test('answers the same twice for the same project', async () => {
      expect(await find(busy)).toEqual(await find(busy))
    })

    test('offers no task that a person has, that is finished, or whose phase the loop may not work', async () => {
      const offered = (await find(busy)).flatMap((item) => ('task' in item ? [item.task] : []))
      for (const task of ['theirs', 'done', 'stuck', 'early']) expect(offered).not.toContain(task)
    })

    test('offers nothing twice', async () => {
      const keys = (await find(busy)).map((item) => ('task' in item ? item.task : item.fingerprint))
      expect(keys).toEqual([...new Set(keys)])
    })

    test('changes nothing that it was given', async () => {
      const before = structuredClone(busy.tasks)
      await find({ ...busy, tasks: Object.freeze(busy.tasks.map((task) => Object.freeze(task))) })
      expect(busy.tasks).toEqual(before)
    })

    test('says what is wrong, or that there is nothing, in an empty project', async () => {
      const answer = await find(sourceContext()).catch((error: unknown) => String(error))
      if (typeof answer === 'string') expect(answer).toContain(`plugin "${plugin.name}" failed in find: `)
      else expect(answer).toEqual([])
    })
  })
}
