import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { listTemplates, loadTemplate } from '../../src/assets/templates.ts'
import { fillTemplate } from '../../src/config/template.ts'
import { writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

const nowhere = { home: '/nowhere', cwd: '/' }

describe('loadTemplate', () => {
  for (const name of ['backlog', 'ci-triage', 'self-improvement']) {
    test(`the built-in ${name} makes a valid loop without a warning`, () => {
      const { text, from } = loadTemplate({ name, ...nowhere })
      expect(fillTemplate({ file: from, text, name: 'x' }).warnings).toEqual([])
    })
  }

  test('self-improvement works the audit with a small cap and the loops backlog', () => {
    const { text, from } = loadTemplate({ name: 'self-improvement', ...nowhere })
    const { config } = fillTemplate({ file: from, text, name: 'self-improvement' })
    expect(config.work_source).toMatchObject({ kind: 'audit', area: 'loops' })
    expect(config.brakes.max_iterations).toBe(10)
    expect(config.schedule).toEqual({ kind: 'native', interval_seconds: 3600 })
  })

  test('a template of HOME wins over the one inside the program', () => {
    using dir = tempDir()
    writeFiles(dir.path, {
      'templates/loops/backlog/loop.json': '{}',
      'templates/loops/mine/loop.json': '{}',
    })
    const at = { home: dir.path, cwd: '/' }
    expect(loadTemplate({ name: 'backlog', ...at }).from).toBe(
      join(dir.path, 'templates/loops/backlog/loop.json'),
    )
    expect(listTemplates(dir.path)).toEqual(['backlog', 'ci-triage', 'mine', 'self-improvement'])
  })

  test('a path names a folder or a file, seen from where the person is', () => {
    using dir = tempDir()
    writeFiles(dir.path, { 'mine/loop.json': '{"a":1}' })
    const at = { home: '/nowhere', cwd: dir.path }
    expect(loadTemplate({ name: './mine', ...at }).text).toBe('{"a":1}')
    expect(loadTemplate({ name: 'mine/loop.json', ...at }).text).toBe('{"a":1}')
    expect(() => loadTemplate({ name: './other', ...at })).toThrow(
      'template not found (./other): there is no ',
    )
  })

  test('an unknown name lists what there is', () => {
    expect(() => loadTemplate({ name: 'nope', ...nowhere })).toThrow(
      'template not found (nope): there are backlog, ci-triage, self-improvement',
    )
  })
})
