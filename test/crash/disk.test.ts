import { expect, test } from 'bun:test'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { binary, callEnv } from '../helpers/cli.ts'
import { readChain } from '../helpers/invariants.ts'
import { must } from '../helpers/project.ts'
import { makeLab } from './lab.ts'
import { type CheapLoop, cheapLoop } from './loops.ts'
import { needs } from './needs.ts'

/** Runs a shell script in the project's place on a file system of its own, which is gone afterwards. */
function onOwnDisk({ p, folder }: CheapLoop, size: string, script: string) {
  const place = join(p.root, '..', 'disk')
  mkdirSync(place)
  const setUp = `mount -t tmpfs -o size=${size} none '${place}' && cp -a '${p.root}' '${place}/repo' && cd '${place}/repo'`
  const run = Bun.spawnSync(['unshare', '-rm', 'sh', '-c', `${setUp} && { ${script}\n}`], {
    env: {
      ...callEnv({ cwd: p.root, home: p.home }),
      automaton: binary,
      loop: join(place, 'repo/.automaton/loops/nightly'),
    },
  })
  rmSync(place, { recursive: true })
  return {
    out: run.stdout.toString(),
    err: run.stderr.toString(),
    sessions: existsSync(join(folder, 'sessions')),
  }
}

needs('unshare', 'mount')(
  'a full disk is told before a session is paid for, and nothing changes',
  async () => {
    using loop = await cheapLoop('lone-agent')
    const { out, err, sessions } = onOwnDisk(
      loop,
      '64m',
      `before=$(cat $loop/.state.loop $loop/.state.log | sha256sum)
     dd if=/dev/zero of=filler bs=1M 2>/dev/null
     "$automaton" tick nightly; echo "exit $?"
     [ "$before" = "$(cat $loop/.state.loop $loop/.state.log | sha256sum)" ] && echo same
     ls -A $loop | grep tmp-
     rm filler; "$automaton" tick nightly --json; echo "exit $?"`,
    )
    expect(out).toContain('exit 5\nsame\n')
    expect(err).toMatch(/no space left/)
    expect(out).toContain('"outcome":"worked"')
    expect(out).toEndWith('exit 0\n')
    expect(sessions).toBe(true)
  },
  60_000,
)

needs('unshare', 'mount')(
  'a disk that fills up while a session writes loses nothing that was there',
  async () => {
    using loop = await cheapLoop('lone-agent')
    const { p } = loop
    const agent = join(p.home, 'filler')
    writeFileSync(
      agent,
      '#!/bin/sh\necho x >> src/work.txt; dd if=/dev/zero of=src/filler bs=1M 2>/dev/null; echo done > "$AUTOMATON_OUTPUT"\n',
      { mode: 0o755 },
    )
    p.configure({ harness: { command: [agent] } })
    const { out } = onOwnDisk(
      loop,
      '64m',
      `"$automaton" tick nightly >/dev/null; echo "exit $?"
     tail -c 1 $loop/.state.log | od -An -c
     rm -f $loop/worktree/src/filler
     cat $loop/.state.loop | wc -c
     "$automaton" tick nightly --json >/dev/null; echo "exit $?"
     "$automaton" can-continue nightly`,
    )
    expect(out).toMatch(/^exit 5\n\s+\\n\n/)
    expect(out).toMatch(/"state":"(OK|HALTED)"/)
  },
  60_000,
)

needs('unshare', 'mount')(
  'a read-only file system is told before a session is paid for',
  async () => {
    using loop = await cheapLoop('lone-agent')
    const { out, err, sessions } = onOwnDisk(
      loop,
      '64m',
      'mount -o remount,ro "$(dirname "$PWD")"; "$automaton" tick nightly; echo "exit $?"',
    )
    expect(out).toBe('exit 5\n')
    expect(err).toContain('read-only')
    expect(sessions).toBe(false)
  },
  60_000,
)

const damages: [string, (dir: string) => void, number, string][] = [
  ['an empty state', (dir) => writeFileSync(join(dir, '.state.loop'), ''), 5, 'it is empty'],
  ['a state cut short', (dir) => cut(join(dir, '.state.loop'), 100), 5, 'it is not JSON'],
  ['a state that is gone', (dir) => rmSync(join(dir, '.state.loop')), 5, 'it is missing'],
  ['a state that is a pipe', (dir) => pipe(join(dir, '.state.loop')), 5, 'it is a pipe'],
  [
    'a state that counts from zero',
    (dir) => edit(join(dir, '.state.loop'), '"iteration_count": 1', '"iteration_count": 0'),
    6,
    'iteration_count',
  ],
  ['a log that is gone', (dir) => rmSync(join(dir, '.state.log')), 6, 'it is missing'],
  ['a log cut short by a line', (dir) => dropLine(join(dir, '.state.log')), 6, 'it ends at record'],
  [
    'a log with a changed byte',
    (dir) => edit(join(dir, '.state.log'), '"type":"created"', '"type":"Created"'),
    6,
    'chain breaks',
  ],
]

for (const [name, damage, code, why] of damages) {
  test(`${name} stops every tick, starts no session and is never replaced by a fresh one`, async () => {
    using loop = await cheapLoop('lone-agent')
    const { p } = loop
    await must(p.tick())
    damage(p.loopDir)
    const before = pictureOf(p.loopDir)
    const call = await p.tick()
    expect(call).toMatchObject({ code })
    expect(call.stderr).toContain(why)
    expect(call.stderr).toContain('automaton repair nightly')
    expect(pictureOf(p.loopDir)).toEqual(before)
    expect(loop.lines('sessions')).toHaveLength(1)
    await must(p.call(['repair', p.loop]))
    expect(p.state()).toMatchObject({ status: 'halted', iteration_count: 1 })
    await must(p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id]))
    expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked', tick: 2 })
  }, 30_000)
}

needs('strace')(
  'a disk that fails while a folder of the worktree is read is an error, and no folder that a session shut',
  async () => {
    using lab = await makeLab(1)
    const folder = join(lab.project.worktree, 'src')
    const failing = ['-P', folder, '-e', 'trace=openat', '-e', 'inject=openat:error=EIO']
    const { code, output } = await lab.run(['strace', '-qq', '-o', '/dev/null', ...failing])
    expect(output).toContain('the disk reports an error')
    expect(code).toBe(5)
    expect(lab.project.state()).toMatchObject({ status: 'running', halt: null })
    expect((await lab.tick()).output).toContain('"outcome":"worked"')
  },
  60_000,
)

test('a state of a newer automaton stays as it is', async () => {
  using loop = await cheapLoop('lone-agent')
  const { p } = loop
  edit(join(p.loopDir, '.state.loop'), '"schema_version": 1', '"schema_version": 2')
  const before = pictureOf(p.loopDir)
  const call = await p.tick()
  expect(call.code).toBe(5)
  expect(call.stderr).toContain('newer')
  expect(pictureOf(p.loopDir)).toEqual(before)
}, 30_000)

test('a log line that was torn is kept aside, and the loop goes on', async () => {
  using loop = await cheapLoop('lone-agent')
  const { p } = loop
  await must(p.tick())
  const log = join(p.loopDir, '.state.log')
  writeFileSync(log, '{"prev":"half a li', { flag: 'a' })
  expect((await must(p.tick('--json'))).json()).toMatchObject({ outcome: 'worked', tick: 2 })
  expect(readFileSync(`${log}.torn`, 'utf8')).toContain('half a li')
  expect(readChain(p).problem).toBeNull()
}, 30_000)

test('under umask 000 every file of a loop is its owner’s alone', async () => {
  using loop = await cheapLoop('lone-agent')
  const { p } = loop
  const script = `umask 000; "${binary}" create-loop other --from-template backlog && "${binary}" tick nightly`
  const run = Bun.spawnSync(['sh', '-c', script], {
    cwd: p.root,
    env: callEnv({ cwd: p.root, home: p.home }),
  })
  expect(run.stderr.toString()).not.toContain('automaton:')
  expect(run.exitCode).toBe(0)
  const open = ['nightly', 'other'].flatMap((name) => openTo(join(p.root, '.automaton/loops', name)))
  expect(open).toEqual([])
}, 30_000)

/** Files and folders that others than the owner may touch; what sessions made in the worktree is theirs. */
function openTo(path: string): string[] {
  const stat = lstatSync(path)
  const own = stat.mode & 0o077 ? [`${path} ${(stat.mode & 0o777).toString(8)}`] : []
  if (!stat.isDirectory() || path.endsWith('/worktree')) return path.endsWith('/worktree') ? [] : own
  return [...own, ...readdirSync(path).flatMap((name) => openTo(join(path, name)))]
}

function pictureOf(dir: string): Record<string, string> {
  const files = ['.state.loop', '.state.log'].map((name) => {
    const stat = lstatSync(join(dir, name), { throwIfNoEntry: false })
    return [name, stat?.isFile() ? readFileSync(join(dir, name), 'utf8') : String(stat?.mode)]
  })
  return Object.fromEntries(files)
}

function cut(file: string, size: number): void {
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, size))
}

function dropLine(file: string): void {
  writeFileSync(file, `${readFileSync(file, 'utf8').trimEnd().split('\n').slice(0, -1).join('\n')}\n`)
}

function edit(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} does not hold ${from}`)
  writeFileSync(file, text.replace(from, to))
}

function pipe(file: string): void {
  rmSync(file)
  Bun.spawnSync(['mkfifo', file])
}
