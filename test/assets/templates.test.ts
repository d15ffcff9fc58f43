import { describe, expect, test } from 'bun:test'
import { symlinkSync } from 'node:fs'
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

  test('prompts beside a template come with it; links, long files and what is no prompt stay', () => {
    using dir = tempDir()
    writeFiles(dir.path, {
      'mine/loop.json': '{}',
      'mine/implement.md': 'do it\n',
      'mine/README.md': 'about\n',
      'mine/long.md': 'x'.repeat((1 << 18) + 1),
      'mine/script.sh': '#!/bin/sh\n',
      'secret.txt': 'secret\n',
    })
    symlinkSync(join(dir.path, 'secret.txt'), join(dir.path, 'mine', 'link.md'))
    const { prompts } = loadTemplate({ name: './mine', home: '/nowhere', cwd: dir.path })
    expect([...prompts]).toEqual([['implement.md', 'do it\n']])
  })

  test("a folder in a loop's worktree is no template, by whatever name it goes", () => {
    using dir = tempDir()
    const worktree = '.automaton/loops/nightly/worktree'
    writeFiles(dir.path, { [`${worktree}/mine/loop.json`]: '{}' })
    symlinkSync(join(dir.path, worktree, 'mine'), join(dir.path, 'link'))
    for (const name of [`./${worktree}/mine`, `${worktree}/mine/loop.json`, './link']) {
      expect(() => loadTemplate({ name, home: '/nowhere', cwd: dir.path })).toThrow('template refused')
    }
  })

  test('an unknown name lists what there is', () => {
    expect(() => loadTemplate({ name: 'nope', ...nowhere })).toThrow(
      'template not found (nope): there are backlog, ci-triage, self-improvement',
    )
  })
})
