import { expect, test } from 'bun:test'
import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isName, taskPlaces } from '../../src/store/layout.ts'
import { acquire } from '../../src/store/lock.ts'
import {
  createTask,
  listTasks,
  type NewTask,
  readArtifact,
  readTask,
  taskName,
  withTasks,
  writeTask,
} from '../../src/store/tasks.ts'
import { makeStore, minute } from './fixtures.ts'

const task = (name: string, n = 0, brief = 'Do it.\n'): NewTask => ({
  task: name,
  brief,
  phase: 'implement',
  design_ref: null,
  scope: ['src/**'],
  acceptance_criteria: ['works'],
  origin: { kind: 'human', fingerprint: null },
  actor: 'human',
  at: minute(n),
})

test('a new task is tracked, with its brief and the first step of its history', () => {
  using store = makeStore()
  const made = createTask(store.project, task('fix-it'))
  expect(readTask(store.project, 'fix-it')).toEqual(made)
  expect(made).toMatchObject({ schema_version: 2, phase: 'implement', claimed_by: null, scope: ['src/**'] })
  expect(made.history).toEqual([
    {
      seq: 1,
      at: minute(0),
      from: null,
      to: 'implement',
      actor: 'human',
      session: null,
      model: null,
      note: 'created',
    },
  ])
  const places = taskPlaces(store.project, 'fix-it')
  expect(readFileSync(places.brief, 'utf8')).toBe('Do it.\n')
  expect([places.dir, places.state].map((path) => lstatSync(path).mode & 0o777)).toEqual([0o700, 0o600])
})

test('a task that is tracked is not made again, and another brief is not overwritten', () => {
  using store = makeStore()
  createTask(store.project, task('fix-it'))
  expect(() => createTask(store.project, task('fix-it'))).toThrow('task exists already (fix-it)')
  const { dir, brief } = taskPlaces(store.project, 'noted')
  mkdirSync(dir)
  writeFileSync(brief, 'Mine.\n')
  expect(() => createTask(store.project, task('noted'))).toThrow('file exists already')
  expect(readTask(store.project, 'noted')).toBeNull()
  expect(createTask(store.project, task('noted', 0, 'Mine.\n')).task).toBe('noted')
})

test('tasks are listed oldest first, with the untracked and the unreadable apart', () => {
  using store = makeStore()
  expect(listTasks(store.project)).toEqual({ tracked: [], untracked: [], unreadable: [], names: [] })
  createTask(store.project, task('young', 9))
  createTask(store.project, task('old', 1))
  createTask(store.project, task('broken', 2))
  writeFileSync(taskPlaces(store.project, 'broken').state, '{')
  mkdirSync(join(store.project.tasks, 'notes'))
  mkdirSync(join(store.project.tasks, 'Not A Task'))
  symlinkSync(join(store.project.tasks, 'old'), join(store.project.tasks, 'linked'))
  const { tracked, untracked, unreadable, names } = listTasks(store.project)
  expect(tracked.map((found) => found.task)).toEqual(['old', 'young'])
  expect(untracked).toEqual(['notes'])
  expect(unreadable).toEqual([{ task: 'broken', problem: expect.any(String) }])
  expect(names).toEqual(['broken', 'notes', 'old', 'young'])
})

test('a state that is odd is a problem, never an error or a task', () => {
  using store = makeStore()
  const made = createTask(store.project, task('fix-it'))
  const { state } = taskPlaces(store.project, 'fix-it')
  const problem = () => {
    const read = readTask(store.project, 'fix-it')
    return read && 'problem' in read ? read.problem : read
  }
  const write = (value: unknown) => writeFileSync(state, JSON.stringify(value))
  write({ ...made, phase: 'nowhere' })
  expect(problem()).toStartWith('phase: ')
  write({ ...made, extra: 1 })
  expect(problem()).toStartWith('extra: ')
  write({ ...made, sessions: { nowhere: 's' } })
  expect(problem()).toStartWith('sessions')
  write({ ...made, task: 'other' })
  expect(problem()).toBe('it is the state of other')
  rmSync(state)
  Bun.spawnSync(['mkfifo', state])
  expect(problem()).toBe('it is a pipe')
  expect(() => readTask(store.project, '../x')).toThrow('bad task name')
})

test('a changed task is written whole, and one that nobody could read is not', () => {
  using store = makeStore()
  const made = createTask(store.project, task('fix-it'))
  const next = { ...made, phase: 'code_review' as const, sessions: { implement: 's1' }, claimed_by: 'pat' }
  writeTask(store.project, next)
  expect(readTask(store.project, 'fix-it')).toEqual(next)
  expect(() => writeTask(store.project, { ...made, created_at: 'today' })).toThrow('nobody could read')
  expect(readTask(store.project, 'fix-it')).toEqual(next)
})

test('one at a time changes the tasks, and an error lets the next one in', async () => {
  using store = makeStore()
  let inside = 0
  const turns = Array.from({ length: 5 }, () =>
    withTasks(store.project, async () => {
      expect(++inside).toBe(1)
      await Bun.sleep(1)
      return --inside
    }),
  )
  expect(await Promise.all(turns)).toEqual([0, 0, 0, 0, 0])
  const failed = withTasks(store.project, () => {
    throw new Error('mine')
  })
  await expect(failed).rejects.toThrow('mine')
  expect(await withTasks(store.project, () => 'next')).toBe('next')
})

test('who waits five seconds for the tasks is told who has them', async () => {
  using store = makeStore()
  await withTasks(store.project, () => null)
  const lock = await acquire(join(store.project.cache, 'tasks.lock'), { waitMs: 0, folder: false })
  if (lock.busy) throw new Error('busy')
  await using _ = lock
  await expect(withTasks(store.project, () => null)).rejects.toThrow(`is busy (tasks): pid ${process.pid}`)
}, 20_000)

test('an artifact is read as far as it is a plain file of bounded size', () => {
  using store = makeStore()
  createTask(store.project, task('fix-it'))
  const read = (name: string) => readArtifact(store.project, 'fix-it', { name, maxBytes: 20 })
  expect(read('TASK.md')).toBe('Do it.\n')
  expect(read('REFEREE.md')).toBeNull()
  const { dir } = taskPlaces(store.project, 'fix-it')
  writeFileSync(join(dir, 'LONG.md'), 'x'.repeat(21))
  expect(() => read('LONG.md')).toThrow('at most 20 are read')
})

test('a task’s name is made from its title and never taken twice', () => {
  expect(taskName('Fix the login: page #2!', [])).toBe('fix-the-login-page-2')
  expect(taskName('  Über-café  ', [])).toBe('uber-cafe')
  expect(taskName('日本語', [])).toBe('task')
  expect(taskName('CON', [])).toBe('task-con')
  expect(taskName('Fix', ['fix', 'fix-2'])).toBe('fix-3')
  const long = taskName('word '.repeat(40), [])
  expect(long.length).toBeLessThanOrEqual(48)
  expect(long.endsWith('word')).toBe(true)
  for (const title of ['x'.repeat(400), '\u202e../../etc', '-', 'a\nb'])
    expect(isName(taskName(title, []))).toBe(true)
})
