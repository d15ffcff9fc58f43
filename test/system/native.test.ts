import { expect, test } from 'bun:test'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { flock, setUndumpable, subreaper, unlock } from '../../src/system/native.ts'
import { isWindows, ownPid } from '../../src/system/platform.ts'
import { tempDir } from '../helpers/temp.ts'

const linux = process.platform === 'linux'
const native = join(import.meta.dir, '..', '..', 'src', 'system', 'native.ts')

function script(text: string, wrap: string[] = []): string {
  const run = Bun.spawnSync([
    ...wrap,
    process.execPath,
    '-e',
    `const native = await import('${native}')\n${text}`,
  ])
  return run.stdout.toString().trim() || run.stderr.toString()
}

test('an exclusive lock keeps every other open file out until it is given back or closed', () => {
  using dir = tempDir()
  const file = join(dir.path, 'lock')
  const [a, b] = [openSync(file, 'a+'), openSync(file, 'a+')]
  expect(flock(a, true, true)).toBe(true)
  expect(flock(b, true, true)).toBe(false)
  expect(flock(b, false, true)).toBe(false)
  unlock(a)
  expect(flock(b, true, true)).toBe(true)
  unlock(b)
  expect(flock(a, true, true)).toBe(true)
  closeSync(a)
  expect(flock(b, true, true)).toBe(true)
  closeSync(b)
})

test('shared locks go together', () => {
  using dir = tempDir()
  const file = join(dir.path, 'lock')
  const [a, b] = [openSync(file, 'a+'), openSync(file, 'a+')]
  expect([flock(a, false, true), flock(b, false, true), flock(b, true, true)]).toEqual([true, true, false])
  closeSync(a)
  closeSync(b)
})

test('a lock that cannot be had at all is an error, not a busy answer', () => {
  expect(() => flock(9999, true, true)).toThrow('flock failed with error 9')
})

test('a subreaper becomes the parent of its orphans', () => {
  const text = `
    const made = native.subreaper()
    const run = Bun.spawnSync(['sh', '-c', 'sleep 20 >/dev/null 2>&1 & echo $!'])
    const orphan = Number(run.stdout.toString())
    const ps = Bun.spawnSync(['ps', '-o', 'ppid=', '-p', String(orphan)])
    process.kill(orphan, 'SIGKILL')
    console.log(made, Number(ps.stdout.toString()) === process.pid)`
  expect(script(text)).toBe(linux ? 'true true' : 'false false')
})

test('an undumpable process belongs to root in the process table, so that its user cannot read it', () => {
  if (!linux) return expect(setUndumpable()).toBe(false)
  const wrap = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--clear-groups'] : []
  const text = `
    const { statSync } = await import('node:fs')
    const owner = () => statSync('/proc/self/environ').uid === 0
    console.log(owner(), native.setUndumpable(), owner())`
  expect(script(text, wrap)).toBe('false true true')
})

test('the process knows its platform and number', () => {
  expect(isWindows).toBe(process.platform === 'win32')
  expect(ownPid).toBe(process.pid)
  expect(typeof subreaper).toBe('function')
})
