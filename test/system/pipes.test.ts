import { expect, test } from 'bun:test'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { gitNow, gitText } from '../../src/system/git.ts'
import { openUp } from '../../src/system/open-up.ts'
import { pipesIn } from '../../src/system/pipe-walk.ts'
import { repositoryPlace } from '../../src/system/repository.ts'
import { copyRegular, readSmall } from '../../src/system/small-file.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { makeLoop, repositoryOf } from './fixtures.ts'

const isPosix = process.platform !== 'win32'

test.if(isPosix)(
  'what is honest in a git folder is none of it: sockets, links, stores elsewhere',
  async () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'), { 'a.txt': 'a\n' })
    const dot = join(root, '.git')
    const server = createServer().listen(join(dot, 'fsmonitor--daemon.ipc'))
    await new Promise((done) => server.once('listening', done))
    git(dir.path, 'clone', '-q', '--shared', root, 'shared')
    symlinkSync('../../elsewhere', join(dot, 'info', 'link'))
    writeFiles(dir.path, { 'more.config': '[user]\n\tname = x\n' })
    git(root, 'config', 'include.path', '../../more.config')
    mkdirSync(join(dot, 'modules', 'x'), { recursive: true })
    Bun.spawnSync(['mkfifo', join(dot, 'modules', 'x', 'HEAD')])
    expect(pipesIn(dot)).toEqual([])
    expect(pipesIn(join(dir.path, 'shared', '.git'))).toEqual([])
    expect(gitNow(repositoryPlace(repositoryOf(root)), ['rev-parse', '--verify', 'HEAD'])).toBeString()
    server.close()
  },
)

test.if(isPosix)('a pipe that comes later is found by the call itself, not by waiting for it', async () => {
  using dir = tempDir()
  const { repo } = await makeLoop(join(dir.path, 'r'))
  const place = repositoryPlace(repo)
  await gitText(place, ['rev-parse', 'HEAD'])
  Bun.spawnSync(['mkfifo', join(repo.commonDir, 'packed-refs')])
  const error = /repository cannot be used .*packed-refs\): it is a pipe/
  expect(() => gitNow(place, ['rev-parse', 'HEAD'])).toThrow(error)
  await expect(gitText(place, ['rev-parse', 'HEAD'])).rejects.toThrow(error)
})

test.if(isPosix)('a quick look leaves out the folders of single objects, and nothing else', () => {
  using dir = tempDir()
  const root = makeRepo(join(dir.path, 'r'), { a: 'a\n' })
  const places = ['objects/ab/cd', 'objects/pack/pack-1.idx', 'refs/heads/x'].map((name) =>
    join(root, '.git', name),
  )
  for (const place of places) {
    mkdirSync(dirname(place), { recursive: true })
    Bun.spawnSync(['mkfifo', place])
  }
  const found = (quick: boolean) => pipesIn(join(root, '.git'), { quick }).map(({ path }) => path)
  expect(found(false).sort()).toEqual(places)
  expect(found(true).sort()).toEqual(places.slice(1))
})

test.if(isPosix)(
  'a call that waits for a pipe in a working tree is ended, and the pipe is named',
  async () => {
    using dir = tempDir()
    const root = makeRepo(join(dir.path, 'r'), { 'a/b.txt': 'a\n' })
    Bun.spawnSync(['mkfifo', join(root, 'a', '.gitignore')])
    const args = ['status', '--porcelain', '--untracked-files=all']
    await expect(gitText(repositoryPlace(repositoryOf(root)), args)).rejects.toThrow(
      /a\/\.gitignore\): it is a pipe/,
    )
  },
  30_000,
)

test('a repository with 10,000 loose objects is looked through in a moment', () => {
  using dir = tempDir()
  const dot = join(dir.path, 'src', 'sub', '.git')
  for (let i = 0; i < 64; i++) {
    const folder = join(dot, 'objects', i.toString(16).padStart(2, '0'))
    mkdirSync(folder, { recursive: true })
    for (let n = 0; n < 160; n++) writeFileSync(join(folder, `${n}`.padStart(38, 'a')), '')
  }
  const started = performance.now()
  expect(openUp(dir.path, []).removed).toEqual([])
  expect(performance.now() - started).toBeLessThan(3000)
}, 60_000)

test.if(isPosix)('neither a pipe nor a device is read, copied or waited for', () => {
  using dir = tempDir()
  const at = (name: string) => join(dir.path, name)
  Bun.spawnSync(['mkfifo', at('pipe')])
  symlinkSync('/dev/zero', at('zero'))
  symlinkSync('pipe', at('link'))
  for (const name of ['pipe', 'zero', 'link', 'missing', '.']) {
    expect(readSmall(at(name))).toBeNull()
    expect(copyRegular(at(name), at('copy'))).toBe(false)
  }
  writeFileSync(at('file'), 'text\n'.repeat(50_000))
  symlinkSync('file', at('linked'))
  expect(copyRegular(at('linked'), at('copy'))).toBe(true)
  expect(readSmall(at('copy'))).toBe('text\n'.repeat(50_000))
  if (process.platform === 'linux') expect(readSmall('/proc/self/status')).toContain('Name:')
})
