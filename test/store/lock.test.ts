import { expect, test } from 'bun:test'
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { acquire, isHeld, type Lock } from '../../src/store/lock.ts'
import type { Clock } from '../../src/system/clock.ts'
import { systemClock } from '../../src/system/clock.ts'
import { tempDir } from '../helpers/temp.ts'
import { child } from './children.ts'

const clock: Clock = { ...systemClock, iso: () => '2026-03-01T10:04:05.678Z' }

async function held(file: string, options = {}): Promise<Lock> {
  const lock = await acquire(file, { waitMs: 0, ...options })
  if (lock.busy) throw new Error(`busy: ${lock.holder}`)
  return lock
}

test('a busy answer names the holder and since when', async () => {
  using dir = tempDir()
  const file = join(dir.path, '.state.lock')
  await using _ = await held(file, { clock })
  expect(await acquire(file, { waitMs: 0 })).toEqual({
    busy: true,
    holder: `pid ${process.pid}, since 10:04:05Z`,
  })
})

test('a lock is free again after release, dispose or the end of its scope, and its file stays', async () => {
  using dir = tempDir()
  const file = join(dir.path, '.state.lock')
  const first = await held(file)
  first.release()
  first.release()
  {
    using _second = await held(file)
  }
  {
    await using _third = await held(file)
  }
  const fourth = await held(file)
  first.release()
  expect((await acquire(file, { waitMs: 0 })).busy).toBe(true)
  fourth[Symbol.dispose]()
  expect(existsSync(file)).toBe(true)
  expect(lstatSync(file).mode & 0o777).toBe(0o600)
})

test('a look tells whether a lock is held, also by its folder, and leaves nothing behind', async () => {
  using dir = tempDir()
  const file = join(dir.path, '.state.lock')
  expect(isHeld(file)).toBe(false)
  expect(existsSync(file)).toBe(false)
  const lock = await held(file)
  expect(isHeld(file)).toBe(true)
  expect(isHeld(join(dir.path, 'gone', '.state.lock'))).toBe(false)
  if (process.platform !== 'win32') {
    unlinkSync(file)
    expect(isHeld(file)).toBe(true)
  }
  lock.release()
  expect(isHeld(file)).toBe(false)
  await using _ = await held(file)
})

test('of twenty processes at once exactly one has the lock', async () => {
  using dir = tempDir()
  const file = join(dir.path, '.state.lock')
  const all = Array.from({ length: 20 }, () => child('store-locker', 'hold', file))
  const answers = await Promise.all(all.map((one) => one.line()))
  const winner = answers.indexOf('held')
  expect(answers.filter((answer) => answer === 'held')).toHaveLength(1)
  const others = answers.filter((answer) => answer !== 'held')
  // One may have asked while the winner was still writing down its name.
  expect(
    others.every((answer) => /^busy (pid \d+, since \d\d:\d\d:\d\dZ|another process)$/.test(answer)),
  ).toBe(true)
  expect(others).toContainEqual(expect.stringContaining(`pid ${all[winner]?.pid}`))
  for (const one of all) one.end()
  await Promise.all(all.map((one) => one.exited))
}, 30_000)

test('twenty processes that take turns are never inside together, and none is left out', async () => {
  using dir = tempDir()
  const mark = join(dir.path, 'inside')
  const lock = join(dir.path, '.state.lock')
  const all = Array.from({ length: 20 }, () => child('store-locker', 'race', lock, mark, '5'))
  expect(await Promise.all(all.map((one) => one.exited))).toEqual(Array(20).fill(0))
  expect(readFileSync(`${mark}.turns`, 'utf8')).toHaveLength(100)
}, 60_000)

test('a lock whose holder is killed is free at once', async () => {
  using dir = tempDir()
  const file = join(dir.path, '.state.lock')
  const holder = child('store-locker', 'hold', file)
  expect(await holder.line()).toBe('held')
  expect((await acquire(file, { waitMs: 0 })).busy).toBe(true)
  holder.kill()
  await holder.exited
  using lock = await held(file)
  expect(lock.busy).toBe(false)
})

test('who waits gets the lock when it becomes free, and is told when it does not', async () => {
  using dir = tempDir()
  const file = join(dir.path, '.state.lock')
  const first = await held(file)
  expect((await acquire(file, { waitMs: 60 })).busy).toBe(true)
  const waiting = acquire(file, { waitMs: 10_000 })
  first.release()
  const second = await waiting
  expect(second.busy).toBe(false)
  if (!second.busy) second.release()
})

test('deleting the lock file lets nobody else in', async () => {
  using dir = tempDir()
  const file = join(dir.path, '.state.lock')
  const holder = child('store-locker', 'hold', file)
  expect(await holder.line()).toBe('held')
  unlinkSync(file)
  expect((await acquire(file, { waitMs: 0 })).busy).toBe(true)
  expect((await acquire(file, { waitMs: 0 })).busy).toBe(true)
  holder.end()
  await holder.exited
  using lock = await held(file)
  expect((await acquire(file, { waitMs: 0 })).busy).toBe(true)
  expect(lock.busy).toBe(false)
})

test('locks that share a folder by agreement do not get into each other’s way', async () => {
  using dir = tempDir()
  using _a = await held(join(dir.path, 'a.lock'), { folder: false })
  using b = await held(join(dir.path, 'b.lock'), { folder: false })
  expect(b.busy).toBe(false)
})

test('a program that was started under the lock does not keep it', async () => {
  using dir = tempDir()
  const file = join(dir.path, '.state.lock')
  const first = await held(file)
  const sleeper = Bun.spawn(['sleep', '60'], { stdout: 'ignore' })
  first.release()
  // Until the program is fully started its copy may live on for an instant.
  using again = await held(file, { waitMs: 10_000 })
  expect([again.busy, sleeper.exitCode]).toEqual([false, null])
  sleeper.kill('SIGKILL')
  await sleeper.exited
})

test('a pipe, link or folder at the place of the lock file is an error and not a wait', async () => {
  using dir = tempDir()
  const at = (name: string) => join(dir.path, name)
  Bun.spawnSync(['mkfifo', at('pipe')])
  symlinkSync(at('elsewhere'), at('link'))
  mkdirSync(at('folder'))
  const why = async (name: string) => {
    try {
      return (await acquire(at(name), { waitMs: 0 })).busy
    } catch (error) {
      return error instanceof Error ? error.message.replace(dir.path, '') : error
    }
  }
  expect(await why('pipe')).toBe('cannot write (/pipe): it is not a regular file')
  expect(await why('link')).toBe('cannot write (/link): it is a symbolic link')
  expect(await why('folder')).toBe('cannot write (/folder): it is a folder')
  expect(existsSync(at('elsewhere'))).toBe(false)
})
