import { describe, expect, test } from 'bun:test'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeMachine } from '../helpers/installer.ts'
import { must } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'

const loopFolder = '.automaton/loops/self-improvement'
const files = { 'note.md': 'a note\n', 'config.md': 'backend: remote\n' }

test('without a git URL it says what could not be undone, exits 2 and touches nothing', async () => {
  using m = makeMachine()
  const done = await m.install(['--binary', m.program])
  expect(done.code).toBe(2)
  expect(done.stderr).toContain('could not be undone')
  expect(done.stderr).toMatch(/^ {2}fix: .*--git-url URL$/m)
  const itself = await m.run([m.program, 'install'])
  expect(itself).toMatchObject({ code: 2, stderr: expect.stringContaining('could not be undone') })
  expect(readdirSync(m.user)).toEqual([])
  expect(readdirSync(join(m.dir, 'tmp'))).toEqual([])
})

test('an empty repository is filled and committed, the program copied, the loop made; again changes nothing', async () => {
  using m = makeMachine()
  const remote = m.remote('empty repo.git')
  const done = await must(m.install(['--git-url', remote, '--binary', m.program]))
  expect(await m.git('status', '--porcelain')).toBe('')
  expect(await m.git('log', '--format=%an %s')).toBe('Automaton Start a HOME for automaton')
  expect(await m.git('remote', 'get-url', 'origin')).toBe(remote)
  // Pushing is the person's: the remote has nothing yet.
  expect(await m.gitIn(remote, 'for-each-ref')).toBe('')
  expect(done.stdout).toContain(`git -C '${m.home}' push -u origin main`)
  expect(done.stdout).toContain(`export PATH='${m.home}/bin':"$PATH"`)
  for (const file of ['bin/automaton', 'README.md', 'config.md', 'design/loops/BACKLOG.md', '.git']) {
    expect(lstatSync(join(m.home, file)).isSymbolicLink()).toBe(false)
  }
  expect(lstatSync(join(m.home, 'bin', 'automaton')).nlink).toBe(1)
  expect(lstatSync(m.home).mode & 0o777).toBe(0o700)
  expect(existsSync(join(m.home, loopFolder, 'loop.json'))).toBe(true)
  const script = join(m.home, loopFolder, 'automaton-loop-tick.sh')
  expect(m.crontab()).toMatch(/^0 \* \* \* \* .*automaton-loop-tick\.sh/m)
  expect(readFileSync(script, 'utf8')).toContain(`${m.home}/bin/automaton`)
  expect(done.stdout).toContain('self-improvement: made, scheduled')
  expect((await must(m.call('audit', '--project', m.home, '--json'))).json().violations).toEqual([])
  expect(readdirSync(join(m.dir, 'tmp')).filter((name) => name.startsWith('automaton'))).toEqual([])

  const before = [...seen(m.home), m.crontab()]
  const again = await must(m.install(['--binary', m.program]))
  expect(again.stdout).toContain('up to date; its remote does not have it yet')
  expect([...seen(m.home), m.crontab()]).toEqual(before)

  await m.git('push', '-q', '-u', 'origin', 'main')
  expect((await must(m.install(['--binary', m.program]))).stdout).not.toContain(' push ')
})

test('a full repository is cloned as it is, and what a person keeps in HOME already stays', async () => {
  using m = makeMachine()
  const remote = m.remote('full.git', files)
  writeFiles(m.home, { 'models.json': '{}\n', 'plugins/mine.ts': 'export {}\n' })
  await must(m.install(['--binary', m.program], { AUTOMATON_GIT_URL: remote }))
  expect(readFileSync(join(m.home, 'config.md'), 'utf8')).toBe(files['config.md'])
  expect(readFileSync(join(m.home, 'models.json'), 'utf8')).toBe('{}\n')
  expect(existsSync(join(m.home, 'README.md'))).toBe(false)
  expect((await m.git('status', '--porcelain')).split('\n').toSorted()).toEqual([
    '?? .automaton/',
    '?? models.json',
    '?? plugins/',
    '?? tasks/',
  ])
})

describe('an update', () => {
  test('goes forward, leaves what a person changed, and takes the new program', async () => {
    using m = makeMachine()
    const remote = m.remote('full.git', files)
    await must(m.install(['--git-url', remote, '--binary', m.program]))
    writeFileSync(join(m.home, 'note.md'), 'my note\n')
    writeFileSync(join(m.home, 'bin', 'automaton'), '#!/bin/sh\nan old one\n')
    const commit = await m.push(remote, {
      'prompts/phases/implement.md': 'mine\n',
      'config.md': 'backend: local\n',
    })
    const done = await must(m.install(['--git-url', remote, '--binary', m.program]))
    expect(done.stdout).toContain(`main went forward to ${commit.slice(0, 10)}`)
    expect(readFileSync(join(m.home, 'config.md'), 'utf8')).toBe('backend: local\n')
    expect(readFileSync(join(m.home, 'prompts/phases/implement.md'), 'utf8')).toBe('mine\n')
    expect(readFileSync(join(m.home, 'note.md'), 'utf8')).toBe('my note\n')
    expect(await m.git('status', '--porcelain', '--branch', '--untracked-files=no')).toBe(
      '## main...origin/main\n M note.md',
    )
    expect((await must(m.call('--version'))).stdout).toStartWith('automaton ')
  })

  test('stops before it touches anything: remote gone, changes in the way, not a fast-forward, another address', async () => {
    using m = makeMachine()
    const remote = m.remote('full.git', files)
    await must(m.install(['--git-url', remote, '--binary', m.program]))
    writeFileSync(join(m.home, 'bin', 'automaton'), '#!/bin/sh\nan old one\n')
    const refused = async (args: string[], code: number, says: string) => {
      const before = seen(m.home)
      const done = await m.install(['--binary', m.program, ...args])
      expect(done.stderr).toContain(says)
      expect(done.code).toBe(code)
      expect(seen(m.home)).toEqual(before)
    }
    renameSync(remote, `${remote}.away`)
    await refused([], 5, 'cannot read your repository')
    renameSync(`${remote}.away`, remote)
    await refused(['--git-url', m.remote('other.git', files)], 2, 'another repository')
    await m.push(remote, { 'note.md': 'their note\n' })
    writeFileSync(join(m.home, 'note.md'), 'my note\n')
    await refused([], 5, 'it would overwrite what you changed in note.md')
    await m.git('commit', '-q', '-a', '-m', 'mine')
    await refused([], 5, 'not a fast-forward')
    await m.git('checkout', '-q', '--detach')
    await refused([], 5, 'no branch is checked out')
  })

  test('makes the loop if it is missing, but not one that a person deleted', async () => {
    using m = makeMachine()
    const remote = m.remote('full.git', files)
    await must(m.install(['--git-url', remote, '--binary', m.program]))
    rmSync(join(m.home, loopFolder), { recursive: true })
    const done = await must(m.install(['--binary', m.program]))
    expect(done.stdout).toContain('you deleted it')
    expect(existsSync(join(m.home, loopFolder))).toBe(false)
    await must(
      m.call('create-loop', 'self-improvement', '--from-template', 'self-improvement', '--project', m.home),
    )
    // What a person unscheduled stays so, too.
    await must(m.call('uninstall-schedule', 'self-improvement', '--project', m.home))
    expect((await must(m.install(['--binary', m.program]))).stdout).not.toContain('scheduled')
    expect(m.crontab()).toBe('')
    rmSync(join(m.home, loopFolder), { recursive: true })
    // A HOME of a time without the loop has no record of it.
    rmSync(join(m.home, '.git', 'automaton-install.json'))
    await must(m.install(['--binary', m.program]))
    expect(existsSync(join(m.home, loopFolder, 'loop.json'))).toBe(true)
  })
})

test('a loop that cannot be scheduled is a warning with what to do, and is tried again by the next call', async () => {
  using m = makeMachine()
  m.fake('crontab', 'echo "you may not use crontab" >&2; exit 1')
  const done = await must(m.install(['--git-url', m.remote('empty.git'), '--binary', m.program]))
  expect(done.stdout).toContain('warning: self-improvement is not scheduled')
  expect(done.stdout).toContain('you may not use crontab')
  expect(existsSync(join(m.home, loopFolder, 'loop.json'))).toBe(true)
  m.fakeCrontab()
  const again = await must(m.install(['--binary', m.program]))
  expect(again.stdout).toContain('self-improvement: there, scheduled')
  expect(m.crontab()).toContain('automaton-loop-tick.sh')
})

describe('where it cannot go on, nothing is half done:', () => {
  test('a repository that cannot be reached', async () => {
    using m = makeMachine()
    const at = Date.now()
    for (const url of [join(m.dir, 'nowhere.git'), 'http://127.0.0.1:9/home.git', 'ext::sh -c id']) {
      const done = await m.install(['--git-url', url, '--binary', m.program])
      expect(done.code).toBe(5)
      expect(done.stderr).toContain('cannot read your repository')
    }
    const secret = 'http://pat:s3cret-word@127.0.0.1:9/home.git'
    const done = await m.install(['--git-url', secret, '--binary', m.program])
    expect(done.stderr).toContain('http://***@127.0.0.1:9')
    expect(done.stderr + done.stdout).not.toContain('s3cret-word')
    expect(readdirSync(m.user)).toEqual([])
    expect(Date.now() - at).toBeLessThan(60_000)
  })

  test('a folder that is no HOME, and files that the repository has too', async () => {
    using m = makeMachine()
    const remote = m.remote('full.git', files)
    writeFiles(m.home, { 'letters/one.txt': 'dear\n' })
    const foreign = await m.install(['--git-url', remote, '--binary', m.program])
    expect(foreign).toMatchObject({ code: 2, stderr: expect.stringContaining('it holds letters') })
    expect(readdirSync(m.home)).toEqual(['letters'])
    rmSync(m.home, { recursive: true })
    writeFiles(m.home, { 'config.md': 'mine\n' })
    const other = await m.install(['--git-url', remote, '--binary', m.program])
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('another config.md') })
    expect(readdirSync(m.home)).toEqual(['config.md'])
  })

  test('a kill: in the middle of the clone, of the move into HOME, or before the program was copied', async () => {
    using m = makeMachine()
    const remote = m.remote('full.git', { ...files, 'prompts/a.md': 'a\n' })
    m.fake('git', `case "$*" in *clone*) kill -9 $PPID;; *) exec /usr/bin/git "$@";; esac`)
    expect((await m.install(['--git-url', remote, '--binary', m.program])).code).not.toBe(0)
    rmSync(join(m.dir, 'programs', 'git'))
    expect(existsSync(join(m.home, '.git'))).toBe(false)
    // As a kill between two renames leaves it.
    const ready = join(m.home, '.automaton-install', 'ready')
    mkdirSync(join(m.home, '.automaton-install'), { recursive: true })
    await m.gitIn(m.dir, 'clone', '-q', remote, ready)
    renameSync(join(ready, 'prompts'), join(m.home, 'prompts'))
    const done = await must(m.install(['--git-url', remote, '--binary', m.program]))
    expect(done.stdout).toContain('cloned main')
    expect(await m.git('status', '--porcelain', '--untracked-files=no')).toBe('')
    expect(readFileSync(join(m.home, 'prompts', 'a.md'), 'utf8')).toBe('a\n')
    expect(existsSync(join(m.home, '.automaton-install'))).toBe(false)

    rmSync(join(m.home, 'bin'), { recursive: true })
    rmSync(join(m.home, loopFolder), { recursive: true })
    rmSync(join(m.home, '.git', 'automaton-install.json'))
    await must(m.install(['--binary', m.program]))
    expect(existsSync(join(m.home, loopFolder, 'loop.json'))).toBe(true)
    expect((await must(m.call('--version'))).stdout).toStartWith('automaton ')
  })

  test('an installer that is told to end', async () => {
    using m = makeMachine()
    const fifo = join(m.dir, 'told')
    Bun.spawnSync(['mkfifo', fifo])
    m.fake('git', `case "$*" in *clone*) echo >'${fifo}'; exec sleep 60;; *) exec /usr/bin/git "$@";; esac`)
    const url = m.remote('full.git', files)
    const end = `"$0" install --git-url "$1" & read -r _ <"$2"; kill -TERM $!; wait $!`
    const done = await m.run(['sh', '-c', end, m.program, url, fifo])
    expect(done.stderr).toContain('automaton: interrupted')
    expect(done.code).toBe(143)
    expect(readdirSync(m.user)).toEqual([])
  })

  test('a second installer', async () => {
    using m = makeMachine()
    const remote = m.remote('full.git', files)
    const fifo = join(m.dir, 'go on')
    Bun.spawnSync(['mkfifo', fifo])
    m.fake('git', `case "$*" in *clone*) read -r _ <'${fifo}';; esac; exec /usr/bin/git "$@"`)
    const first = m.install(['--git-url', remote, '--binary', m.program])
    while (!existsSync(join(m.home, '.automaton-install', 'lock'))) await Bun.sleep(20)
    const second = await m.run([m.program, 'install', '--git-url', remote])
    expect(second).toMatchObject({ code: 3, stderr: expect.stringContaining('busy') })
    writeFileSync(fifo, 'go\n')
    await must(first)
    expect(await m.git('status', '--porcelain', '--untracked-files=no')).toBe('')
  })
})

/** Everything below a folder but git's own and logs: names, kinds, times. */
function seen(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('.git/') && !/\.lock$/.test(name))
    .map((name) => {
      const { mode, size, mtimeMs, ino } = lstatSync(join(folder, name))
      return lstatSync(join(folder, name)).isDirectory() ? name : `${name} ${mode} ${size} ${mtimeMs} ${ino}`
    })
    .toSorted()
}
