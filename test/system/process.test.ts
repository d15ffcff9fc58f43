import { afterEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ancestors, endTree, findByEnv, identify, isAlive, which } from '../../src/system/process.ts'
import { bootId, processRow } from '../../src/system/process-table.ts'
import { tempDir } from '../helpers/temp.ts'

const children: Bun.Subprocess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function start(script: string, env: Record<string, string> = {}) {
  const child = Bun.spawn(['sh', '-c', script], {
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', ...env },
    stdout: 'pipe',
    detached: true,
  })
  children.push(child)
  return child
}

/** The first line that a program prints: it is ready then. */
async function ready(child: { stdout: ReadableStream<Uint8Array> }): Promise<string> {
  const { value } = await child.stdout.getReader().read()
  return new TextDecoder().decode(value).trim()
}

describe('the identity of a process', () => {
  test('is alive while it runs and not after its end', async () => {
    const child = start('sleep 60')
    const identity = identify(child.pid)
    expect(identity && isAlive(identity)).toBe(true)
    child.kill('SIGKILL')
    await child.exited
    expect(identity && isAlive(identity)).toBe(false)
    expect(identify(child.pid)).toBeNull()
  })

  test('is not that of another process with the same number, nor of one before a reboot', () => {
    const self = identify(process.pid)
    if (!self) throw new Error('this process has no identity')
    expect(isAlive(self)).toBe(true)
    expect(isAlive({ ...self, start: String(Number(self.start) - 1) })).toBe(false)
    expect(isAlive({ ...self, boot: '00000000-0000-0000-0000-000000000000' })).toBe(false)
    expect(isAlive({ ...self, start: 'unknown' })).toBe(false)
    expect(isAlive({ ...self, pid: 2 ** 22 + 1 })).toBe(false)
  })

  test('of a zombie is not alive', async () => {
    // The shell is replaced by a program that never collects its child.
    const child = start('sh -c "echo \\$\\$; exec sleep 0.05" & exec sleep 60')
    const pid = Number(await ready(child))
    const identity = identify(pid)
    while (!processRow(pid)?.zombie) await Bun.sleep(5)
    expect(identity && isAlive(identity)).toBe(false)
  })

  test('is read rightly when the program has brackets and spaces in its name', async () => {
    using dir = tempDir()
    const program = join(dir.path, 'a) S 1 (b')
    writeFileSync(program, '#!/bin/sh\necho up\nread _\n')
    chmodSync(program, 0o755)
    const child = Bun.spawn([program], { stdin: 'pipe', stdout: 'pipe', env: { PATH: '/usr/bin:/bin' } })
    children.push(child)
    await ready(child)
    expect(processRow(child.pid)).toMatchObject({ parent: process.pid, zombie: false })
    expect(identify(child.pid)?.boot).toBe(bootId())
  })
})

test('the ancestors of a process come nearest first', async () => {
  const child = start('sh -c "echo \\$\\$; sleep 60; true"; true')
  const found = ancestors(Number(await ready(child)))
  expect(found.slice(0, 2)).toEqual([child.pid, process.pid])
  expect(found).toContain(process.ppid)
  expect(new Set(found).size).toBe(found.length)
})

test('a process is found by a variable only when the whole value is the same', async () => {
  const child = start('echo up; sleep 60', { MARK_A: 'run-17' })
  await ready(child)
  expect(findByEnv('MARK_A', 'run-17')).toContain(child.pid)
  for (const [name, value] of [
    ['MARK_A', 'run-1'],
    ['MARK_A', 'run-171'],
    ['ARK_A', 'run-17'],
  ] as const)
    expect(findByEnv(name, value)).toEqual([])
})

describe('ending a tree', () => {
  test('ends the program, its children, and those that left its session with the run id', async () => {
    const script = `setsid sh -c 'trap "" TERM; while :; do sleep 0.0301; done' & sleep 60 & echo up; wait`
    const child = start(script, { AUTOMATON_RUN_ID: 'tree-1' })
    await ready(child)
    const who = identify(child.pid)
    if (!who) throw new Error('it does not run')
    const ended = await endTree({ ...who, group: child.pid, runId: 'tree-1', graceMs: 100 })
    expect(ended).toBeGreaterThanOrEqual(3)
    await child.exited
    expect(findByEnv('AUTOMATON_RUN_ID', 'tree-1')).toEqual([])
  })

  test('ends a group whose leader is gone', async () => {
    const child = start('sleep 60.11 & echo $!')
    const orphan = Number(await ready(child))
    const who = { pid: child.pid, group: child.pid, start: processRow(child.pid)?.start ?? '1' }
    await child.exited
    expect(processRow(orphan)?.session).toBe(child.pid)
    await endTree({ ...who, runId: null, graceMs: 100 })
    expect(processRow(orphan)?.zombie ?? true).toBe(true)
  })

  test('spares a stranger that has the number now', async () => {
    const child = start('echo up; sleep 60')
    await ready(child)
    const now = identify(child.pid)
    if (!now) throw new Error('it does not run')
    const recorded = { ...now, group: child.pid, runId: 'tree-2', graceMs: 0 }
    expect(await endTree({ ...recorded, start: String(Number(now.start) - 100) })).toBe(0)
    expect(await endTree({ ...recorded, boot: 'before-the-reboot' })).toBe(0)
    expect(isAlive(now)).toBe(true)
    expect(await endTree(recorded)).toBeGreaterThanOrEqual(1)
    await child.exited
  })

  test('never ends this process or one that it descends from', async () => {
    const file = join(import.meta.dir, '../../src/system/process.ts')
    const code = `import { endTree } from '${file}'
      await endTree({ pid: process.ppid, group: process.ppid, runId: 'tree-3', graceMs: 0 })
      console.log('still here')`
    const child = start(`"${process.execPath}" -e "$CODE"; echo parent too`, {
      CODE: code,
      AUTOMATON_RUN_ID: 'tree-3',
    })
    expect(await new Response(child.stdout).text()).toBe('still here\nparent too\n')
  })
})

describe('finding a program', () => {
  test('the first executable file of an absolute folder counts', () => {
    using place = tempDir()
    const [a, b] = [join(place.path, 'a'), join(place.path, 'b')]
    mkdirSync(join(a, 'folder'), { recursive: true })
    mkdirSync(b)
    writeFileSync(join(a, 'plain'), '')
    for (const name of ['plain', 'folder']) writeFileSync(join(b, name), '', { mode: 0o755 })
    symlinkSync(join(b, 'plain'), join(a, 'link'))
    const path = `${a}:${b}`
    expect(which('plain', path)).toBe(join(b, 'plain'))
    expect(which('folder', path)).toBe(join(b, 'folder'))
    expect(which('link', path)).toBe(join(a, 'link'))
    expect(which('missing', path)).toBeNull()
    expect(which('', path)).toBeNull()
  })

  test('a relative folder of PATH and a relative path find nothing', () => {
    expect(which('sh', '/bin')).toBe('/bin/sh')
    for (const path of ['', '.', ':', 'bin', './bin', '../bin']) expect(which('sh', path)).toBeNull()
    expect(which('./sh', '/bin')).toBeNull()
    expect(which('../bin/sh', '/bin')).toBeNull()
  })

  test('an absolute path is itself, when it can run', () => {
    expect(which('/bin/sh', '')).toBe('/bin/sh')
    expect(which('/etc/passwd', '/bin')).toBeNull()
    expect(which('/bin', '')).toBeNull()
    expect(which('/no/such/file', '/bin')).toBeNull()
  })
})
