import { expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import {
  appendLine,
  ensureFolder,
  readBounded,
  removeStaleTemps,
  temporaryIn,
  writeAtomic,
} from '../../src/store/atomic.ts'
import { tempDir } from '../helpers/temp.ts'
import { child, ordinary, under } from './children.ts'

const mode = (path: string) => (lstatSync(path).mode & 0o777).toString(8)

test('a reader in a loop sees only whole versions while a file is replaced', async () => {
  using dir = tempDir()
  const file = join(dir.path, 'state')
  const version = (n: number) => Array(1000).fill(`version-${n}`).join(' ')
  writeAtomic(file, version(0))
  const reader = child('store-reader', file)
  expect(await reader.line()).toBe('ready')
  for (let n = 1; n <= 200; n++) writeAtomic(file, version(n))
  reader.end()
  const { reads, torn } = JSON.parse(await reader.line())
  expect(torn).toBe(0)
  expect(reads).toBeGreaterThan(50)
  expect(readdirSync(dir.path)).toEqual(['state'])
})

test('files and folders have exactly their modes, whatever the umask', () => {
  using dir = tempDir()
  for (const umask of [0o000, 0o077]) {
    const before = process.umask(umask)
    try {
      const folder = join(dir.path, `u${umask}`, 'deep')
      ensureFolder(folder)
      writeAtomic(join(folder, 'private'), 'x')
      writeAtomic(join(folder, 'script'), 'x', 0o755)
      appendLine(join(folder, 'log'), 'x')
      const found = [
        join(dir.path, `u${umask}`),
        folder,
        ...['private', 'script', 'log'].map((f) => join(folder, f)),
      ]
      expect(found.map(mode)).toEqual(['700', '700', '600', '755', '600'])
    } finally {
      process.umask(before)
    }
  }
})

test('a link at the place of a file is replaced and what it points to stays', () => {
  using dir = tempDir()
  const file = join(dir.path, 'state')
  writeFileSync(join(dir.path, 'elsewhere'), 'mine')
  symlinkSync(join(dir.path, 'elsewhere'), file)
  writeAtomic(file, 'new')
  expect(lstatSync(file).isFile()).toBe(true)
  expect(readFileSync(join(dir.path, 'elsewhere'), 'utf8')).toBe('mine')
})

test('a write that cannot replace its target leaves no temporary file and says why', () => {
  using dir = tempDir()
  const file = join(dir.path, 'taken')
  mkdirSync(file)
  expect(() => writeAtomic(file, 'x')).toThrow(`cannot write (${file}): it is a folder`)
  expect(readdirSync(dir.path)).toEqual(['taken'])
  expect(() => writeAtomic(join(dir.path, 'no', 'where'), 'x')).toThrow('its folder is missing')
})

test('a write over the size limit of the process keeps the old bytes', () => {
  using dir = tempDir()
  const file = join(dir.path, 'state')
  writeAtomic(file, 'old')
  const limited = ['sh', '-c', 'trap "" XFSZ; ulimit -f 8; exec "$@"', 'sh']
  expect(under(limited, 'store-writer', 'atomic', file, '100000')).toBe(
    `write_failed: cannot write (${file}): it would be larger than this process may write`,
  )
  expect(readFileSync(file, 'utf8')).toBe('old')
  expect(readdirSync(dir.path)).toEqual(['state'])
})

test('a line that does not fit is taken back whole', () => {
  using dir = tempDir()
  const file = join(dir.path, 'log')
  appendLine(file, 'first')
  const limited = ['sh', '-c', 'trap "" XFSZ; ulimit -f 8; exec "$@"', 'sh']
  expect(under(limited, 'store-writer', 'append', file, '100000')).toStartWith('write_failed')
  expect(readFileSync(file, 'utf8')).toBe('first\n')
})

test('a full or read-only file system is named in plain words', () => {
  using dir = tempDir()
  const disk = join(dir.path, 'disk')
  mkdirSync(disk)
  const mounted = (then: string) => [
    'unshare',
    '-rm',
    'sh',
    '-c',
    `mount -t tmpfs -o size=64k none ${disk} && echo old > ${disk}/state && ${then}`,
    'sh',
  ]
  const file = join(disk, 'state')
  if (!Bun.spawnSync([...mounted('true')]).success) {
    // Without mounts, a folder that may not be written stands in.
    chmodSync(disk, 0o555)
    expect(under(ordinary(), 'store-writer', 'atomic', file, '1')).toContain('no permission')
    return
  }
  const show = `"$@"; cat ${file}; ls -A ${disk}`
  expect(under(mounted(show), 'store-writer', 'atomic', file, '100000').split('\n')).toEqual([
    `write_failed: cannot write (${file}): no space left on the disk`,
    'old',
    'state',
  ])
  expect(under(mounted(show), 'store-writer', 'append', file, '100000').split('\n')).toEqual([
    `write_failed: cannot write (${file}): no space left on the disk`,
    'old',
    'state',
  ])
  expect(under(mounted(`mount -o remount,ro ${disk} && "$@"`), 'store-writer', 'atomic', file, '1')).toBe(
    `write_failed: cannot write (${file}): the file system is read-only`,
  )
})

test('a folder that cannot be flushed after the rename is told apart from a failed write', () => {
  using dir = tempDir()
  const folder = join(dir.path, 'blind')
  mkdirSync(folder)
  chmodSync(dir.path, 0o755)
  if (process.getuid?.() === 0) chownSync(folder, 65534, 65534)
  // Names may be made in it, but it cannot be opened.
  chmodSync(folder, 0o300)
  const file = join(folder, 'state')
  expect(under(ordinary(), 'store-writer', 'atomic', file, '3')).toBe(
    `durability_unknown: written, but perhaps not to last a power cut (${file}): no permission`,
  )
  chmodSync(folder, 0o700)
  expect(readFileSync(file, 'utf8')).toBe('xxx')
})

test('only a regular file of bounded size is read, and nothing blocks', () => {
  using dir = tempDir()
  const at = (name: string) => join(dir.path, name)
  writeFileSync(at('file'), 'ten bytes.')
  symlinkSync(at('file'), at('link'))
  mkdirSync(at('folder'))
  Bun.spawnSync(['mkfifo', at('pipe')])
  writeFileSync(at('huge'), '')
  truncateSync(at('huge'), 100 << 20)
  expect(readBounded(at('file'), 10)).toBe('ten bytes.')
  expect(readBounded(at('none'), 10)).toBeNull()
  const refusals = ['link', 'folder', 'pipe', 'huge'].map((name) => {
    try {
      return readBounded(at(name), 10)
    } catch (error) {
      return String(error).replace(dir.path, '')
    }
  })
  expect(refusals).toEqual([
    'AutomatonError: cannot read (/link): it is a symbolic link',
    'AutomatonError: cannot read (/folder): it is a folder',
    'AutomatonError: cannot read (/pipe): it is a pipe',
    'AutomatonError: cannot read (/huge): it has 104857600 bytes; at most 10 are read',
  ])
})

test('lines are not added to a link or a pipe', () => {
  using dir = tempDir()
  symlinkSync(join(dir.path, 'target'), join(dir.path, 'link'))
  Bun.spawnSync(['mkfifo', join(dir.path, 'pipe')])
  expect(() => appendLine(join(dir.path, 'link'), 'x')).toThrow('it is a symbolic link')
  expect(() => appendLine(join(dir.path, 'pipe'), 'x')).toThrow('it is a pipe')
  expect(existsSync(join(dir.path, 'target'))).toBe(false)
})

test('a folder is not made where something else is', () => {
  using dir = tempDir()
  mkdirSync(join(dir.path, 'real'))
  symlinkSync(join(dir.path, 'real'), join(dir.path, 'link'))
  writeFileSync(join(dir.path, 'file'), '')
  expect(() => ensureFolder(join(dir.path, 'link'))).toThrow('it is a symbolic link')
  expect(() => ensureFolder(join(dir.path, 'file'))).toThrow('cannot write')
})

test('only what dead writers left is cleaned up', () => {
  using dir = tempDir()
  const stale = temporaryIn(dir.path)
  writeFileSync(stale, 'half')
  mkdirSync(temporaryIn(dir.path))
  writeFileSync(join(dir.path, '.automaton-tmp-notes'), 'mine')
  expect(removeStaleTemps(dir.path)).toHaveLength(1)
  expect(existsSync(stale)).toBe(false)
  expect(readdirSync(dir.path)).toHaveLength(2)
})
