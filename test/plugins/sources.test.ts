import { describe, expect, test } from 'bun:test'
import audit, { workableRules } from '../../plugins/sources/audit.ts'
import backlog from '../../plugins/sources/backlog.ts'
import { parseBacklog } from '../../plugins/sources/backlog-markdown.ts'
import single from '../../plugins/sources/single.ts'
import { fingerprint, type SourceContext } from '../../src/api/index.ts'
import { auditRules } from '../../src/machine/audit.ts'
import { createHost } from '../../src/plugin/host.ts'
import { sourceContext, taskView, violation } from '../contract/source.ts'

const host = createHost({ builtins: [audit, backlog, single], log() {} })
const find = (name: string, change: Partial<SourceContext>, options: unknown = {}) =>
  host.find(name, options, sourceContext(change))

describe('single', () => {
  test('offers its task while it may be worked, also one that automaton has yet to miss', async () => {
    expect(await find('single', { task: 'a', tasks: [taskView('b'), taskView('a')] })).toEqual([
      { task: 'a' },
    ])
    expect(await find('single', { task: 'gone' })).toEqual([{ task: 'gone' }])
    expect(await find('single', { task: 'a', tasks: [taskView('a', { phase: 'complete' })] })).toEqual([])
  })

  test('without a task it says what is missing', async () => {
    await expect(find('single', {})).rejects.toThrow(
      'plugin "single" failed in find: work_source.task names no task',
    )
  })
})

describe('backlog', () => {
  test('offers the open tasks of people, oldest first, before the items of the file', async () => {
    const items = await find('backlog', {
      area: 'loops',
      tasks: [
        taskView('newer', { created_at: '2026-02-02T00:00:00.000Z' }),
        taskView('older', { created_at: '2026-01-02T00:00:00.000Z', phase: 'code_review' }),
        taskView('made', { origin: { kind: 'source', fingerprint: 'x' } }),
        taskView('claimed', { claimed_by: 'pat' }),
        taskView('elsewhere', { phase: 'referee' }),
      ],
      readProjectFile: async (path) => (path === 'design/loops/BACKLOG.md' ? '# B\n\n- [ ] Add X\n' : null),
    })
    expect(items).toEqual([
      { task: 'older' },
      { task: 'newer' },
      {
        title: 'Add X',
        brief: expect.stringContaining('`design/loops/BACKLOG.md`, section "B"'),
        fingerprint: fingerprint('backlog', 'design/loops/BACKLOG.md', 'Add X'),
        design_ref: 'design/loops/BACKLOG.md#b',
      },
    ])
  })

  test('reads no file without an area, and says when there is none', async () => {
    const said: string[] = []
    let reads = 0
    const readProjectFile = async () => {
      reads++
      return null
    }
    expect(await find('backlog', { readProjectFile })).toEqual([])
    expect(reads).toBe(0)
    expect(await find('backlog', { area: 'x', readProjectFile, log: (line) => said.push(line) })).toEqual([])
    expect(said).toEqual(['there is no design/x/BACKLOG.md'])
  })

  test('an item whose task is finished waits for its merge, and an open one goes on as its task', async () => {
    const path = 'design/a/BACKLOG.md'
    const origin = (title: string) => ({ kind: 'source', fingerprint: fingerprint('backlog', path, title) })
    const items = await find('backlog', {
      area: 'a',
      readProjectFile: async () => '- [ ] One\n- [ ]   two\n- [ ] three\n- [ ] four\n',
      tasks: [
        taskView('one', { origin: origin('one'), phase: 'complete' }),
        taskView('two', { origin: origin('TWO'), phase: 'code_review' }),
        taskView('three', { origin: origin('three'), phase: 'human_intervention' }),
      ],
    })
    expect(items).toEqual([{ task: 'two' }, expect.objectContaining({ title: 'four' })])
  })

  test('a file that cannot be read is an error, not an empty backlog', async () => {
    const readProjectFile = async () => {
      throw new Error('too long')
    }
    await expect(find('backlog', { area: 'a', readProjectFile })).rejects.toThrow('failed in find: too long')
  })
})

describe('a backlog file', () => {
  test('open boxes are items, with what is indented below them; closed and struck ones are not', () => {
    const text = [
      '# Backlog',
      'Intro with - [ ] in its text.',
      '## Next',
      '- [ ] Add [X](x.md) to `y`',
      '  More about it.',
      '',
      '  - [ ] a step',
      '- [x] Ready',
      '  - [ ] left over',
      '* [ ] ~~Not any more~~',
      '- [ ]',
      '1. a list',
      '## Done',
      '- [ ] forgotten',
      '### Sub of done',
      'text',
    ].join('\r\n')
    expect(parseBacklog(text)).toEqual([
      { title: 'Add X to y', body: 'More about it.\n\n- [ ] a step', section: 'Next', anchor: 'next' },
    ])
  })

  test('headings with text are items where they hold no boxes', () => {
    const text =
      '# Backlog\n\nAll of it.\n\n## Add a panel!\n\nShow loops.\n\n## Later\n\n### Faster start\n\nUnder 5 ms.\n\n## Empty\n'
    expect(parseBacklog(text)).toEqual([
      { title: 'Add a panel!', body: 'Show loops.', section: '', anchor: 'add-a-panel' },
      { title: 'Faster start', body: 'Under 5 ms.', section: '', anchor: 'faster-start' },
      { title: 'Empty', body: '', section: '', anchor: 'empty' },
    ])
  })

  test.each([
    ['## Add\u2028it\n\ntext\u2029more\n', 'Add it', 'text more'],
    ['- [ ] Add\u2029it\n', 'Add it', ''],
    ['# B\r\r- [ ] Add it\r  text\r', 'Add it', 'text'],
  ])('separators that editors hide end no item: %j', (text, title, body) => {
    expect(parseBacklog(text)).toMatchObject([{ title, body }])
  })

  test('code and comments hold no items', () => {
    const text = '## A\n```md\n- [ ] not this\n# nor this\n```\n<!-- - [ ] nor this -->\n- [ ] this\n'
    expect(parseBacklog(text).map(({ title }) => title)).toEqual(['this'])
    expect(parseBacklog('<!-- never closed\n- [ ] x')).toEqual([])
  })

  test('an empty file has no items', () => {
    expect(parseBacklog('')).toEqual([])
    expect(parseBacklog('# Title only\n')).toEqual([])
  })
})

describe('audit', () => {
  test('offers what an agent could settle, in the order of the audit, then the backlog', async () => {
    const items = await find('audit', {
      area: 'loops',
      tasks: [taskView('old')],
      readProjectFile: async () => '- [ ] Add X\n',
      audit: async () => [
        violation('.automaton/tasks/x/.state', { rule: 'unreadable-state', severity: 'CRITICAL' }),
        violation('src/a.ts'),
        violation('.automaton/tasks/old/.state', { rule: 'stale-task', task: 'old', severity: 'LOW' }),
        violation('.automaton/loops/me', { rule: 'halted-loop', severity: 'LOW' }),
      ],
    })
    expect(items).toEqual([
      {
        title: 'src/a.ts: no test names it',
        brief: expect.stringContaining('untested-source (MEDIUM)'),
        fingerprint: 'f-src/a.ts',
        design_ref: 'audit:untested-source:src/a.ts',
        acceptance_criteria: ['`automaton audit --project .` no longer reports untested-source:src/a.ts'],
      },
      { task: 'old' },
      expect.objectContaining({ title: 'Add X' }),
    ])
  })

  test('a person can choose the rules', async () => {
    const change = { audit: async () => [violation('a.ts'), violation('b.ts', { rule: 'mine' })] }
    const items = await find('audit', change, { rules: ['mine'] })
    expect(items).toHaveLength(1)
    await expect(find('audit', change, { rule: 'mine' })).rejects.toThrow(
      'plugin "audit" failed in options: options.rule',
    )
  })

  test('its rules are those of the audit that an agent could settle', () => {
    const workable = auditRules.filter(({ isWorkable }) => isWorkable).map(({ name }) => name)
    expect([...workableRules].sort()).toEqual(workable.sort())
  })
})
