import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { schedulerContext } from '../../src/runner/scheduler-tools.ts'
import { tempDir } from '../helpers/temp.ts'

const machine = (path = '') =>
  schedulerContext(
    { loop: 'nightly', fromTick: false },
    {
      project: { root: '/project' },
      env: { PATH: path, BUN_OPTIONS: '--preload x', SECRET: 'sssssssssssss' },
      progress() {},
      signal: new AbortController().signal,
    },
  )

test('a program of the system runs in the language C, without what loads code, and is found without a PATH', async () => {
  const { stdout, exitCode } = await machine().run(['env'], { env: { EXTRA: 'x', LC_ALL: 'de_DE' } })
  expect(exitCode).toBe(0)
  const names = stdout.trimEnd().split('\n').sort()
  expect(names).toEqual([
    'EXTRA=x',
    'LC_ALL=C',
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  ])
})

test('the person’s own folders of programs come first', async () => {
  using dir = tempDir()
  writeFileSync(join(dir.path, 'crontab'), '#!/bin/sh\necho mine\n', { mode: 0o755 })
  expect((await machine(dir.path).run(['crontab', '-l'])).stdout).toBe('mine\n')
})

test('every byte comes through a program and a file as it was', async () => {
  using dir = tempDir()
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  const text = Buffer.from(bytes).toString('latin1')
  const { run, readFile, writeFile } = machine()
  expect((await run(['cat'], { stdin: bytes, encoding: 'latin1' })).stdout).toBe(text)
  const file = join(dir.path, 'deep', 'er', 'table')
  await writeFile(file, bytes, { mode: 0o640 })
  expect(await readFile(file, { encoding: 'latin1' })).toBe(text)
  expect(statSync(file).mode & 0o777).toBe(0o640)
})

test('a program that takes too long is ended, and one that is missing is an error', async () => {
  const { run } = machine()
  expect(await run(['sleep', '60'], { timeoutSeconds: 0.1 })).toMatchObject({
    exitCode: null,
    timedOut: true,
  })
  await expect(run(['no-such-program-here'])).rejects.toThrow('no such program (no-such-program-here)')
})

test('a file that is missing is null, one that is a link is refused, and removing takes what is there', async () => {
  using dir = tempDir()
  const { readFile, removeFile } = machine()
  const file = join(dir.path, 'unit')
  expect(await readFile(file)).toBeNull()
  await removeFile(file)
  mkdirSync(join(dir.path, 'folder'))
  await expect(removeFile(join(dir.path, 'folder'))).rejects.toThrow('cannot write')
  symlinkSync('/etc/passwd', file)
  await expect(readFile(file)).rejects.toThrow('it is a symbolic link')
  await removeFile(file)
  expect(readFileSync('/etc/passwd', 'utf8')).not.toBe('')
})
