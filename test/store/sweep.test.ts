import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryIn } from '../../src/store/atomic.ts'
import { acquire } from '../../src/store/lock.ts'
import { sweepTemps } from '../../src/store/sweep.ts'
import { makeLoop, makeStore } from './fixtures.ts'

test('what killed writers left in the loop and in tasks goes; everything else stays', async () => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  const task = join(store.project.tasks, 'fix-it')
  for (const folder of [task, places.outputs]) mkdirSync(folder, { recursive: true })
  const stale = [places.dir, places.outputs, task].map(temporaryIn)
  const kept = [join(task, 'TASK.md'), join(places.outputs, 'tick1-implement.md')]
  for (const file of [...stale, ...kept]) writeFileSync(file, 'half')
  await sweepTemps(store.project, places)
  expect(stale.filter((file) => existsSync(file))).toEqual([])
  expect([...kept, places.state].every((file) => existsSync(file))).toBe(true)
})

test('a task that somebody changes just now is left alone', async () => {
  using store = makeStore()
  const { places } = makeLoop(store.project)
  const task = join(store.project.tasks, 'fix-it')
  for (const folder of [task, store.project.cache]) mkdirSync(folder, { recursive: true })
  const file = temporaryIn(task)
  writeFileSync(file, 'being written')
  const lock = await acquire(join(store.project.cache, 'tasks.lock'), { waitMs: 0, folder: false })
  if (lock.busy) throw new Error('nobody else is there')
  await sweepTemps(store.project, places)
  expect(existsSync(file)).toBe(true)
  lock.release()
  await sweepTemps(store.project, places)
  expect(existsSync(file)).toBe(false)
})
