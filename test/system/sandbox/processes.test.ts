import { afterEach, describe, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFiles } from '../../helpers/repo.ts'
import { isSkipped, makePlace, type Place, runnerEnv, titleOf, ways } from './session.ts'

const children: Bun.Subprocess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

/** A pipe with a name in the worktree: it is read to its end when nobody who could write to it lives any more. */
function pipe(place: Place, name: string): () => Promise<string> {
  const path = join(place.worktree, name)
  spawnSync('mkfifo', ['-m', '666', path])
  const reader = Bun.spawn(['cat', path], { stdout: 'pipe' })
  children.push(reader)
  return () => new Response(reader.stdout).text()
}

/** Starts a session and waits until it runs; gives the program that runs it, and the session's leader. */
async function start(place: Place, script: string) {
  const up = pipe(place, 'up')
  const runner = Bun.spawn(place.command(`${script}`), {
    env: runnerEnv,
    stdout: 'ignore',
    stderr: 'pipe',
    cwd: '/',
  })
  children.push(runner)
  const leader = runner.stderr.getReader().read()
  const early = runner.exited.then((code) => `the session's runner ended with ${code}`)
  expect(await Promise.race([up(), early])).toBe('up\n')
  const text = new TextDecoder().decode((await leader).value)
  return { runner, leader: Number.parseInt(text, 10) }
}

const left = 'setsid sleep 1000 3> $W/alive & exec 3> $W/alive; echo up > $W/up; wait'

for (const way of ways) {
  describe.skipIf(isSkipped(way))(`a session in ${titleOf(way)}`, () => {
    test('ends with its own exit code and output', () => {
      using place = makePlace(way)
      const { result } = place.run('echo out; echo err >&2; exit 3')
      expect(result).toMatchObject({ exitCode: 3, stdout: 'out\n', stderr: 'err\n', ended: 'exit' })
    })

    test('starts in its folder, and with the signals of any program', () => {
      using place = makePlace(way)
      const { result } = place.run(
        'pwd; grep -hE "^Sig(Ign|Blk)" /proc/self/status; yes | head -n 1; ls /proc/self/fd',
      )
      const none = '0000000000000000'
      const [folder, blocked, ignored, yes, ...fds] = result.stdout.trim().split('\n')
      expect([folder, blocked, ignored, yes]).toEqual([
        place.worktree,
        `SigBlk:\t${none}`,
        `SigIgn:\t${none}`,
        'y',
      ])
      expect(fds).toEqual(['0', '1', '2', '3'])
    })

    test('has the time to end by itself when it runs too long', () => {
      using place = makePlace(way)
      const trap = 'trap "echo bye > $W/bye; exit 7" TERM; sleep 1000 & echo up; wait'
      const { result } = place.run(trap, { timeoutMs: 1500 })
      expect(result).toMatchObject({ ended: 'timeout', exitCode: 7 })
      expect(readFileSync(join(place.worktree, 'bye'), 'utf8')).toBe('bye\n')
    })

    test('ends when automaton is killed', async () => {
      using place = makePlace(way)
      const alive = pipe(place, 'alive')
      const { runner } = await start(place, 'exec 3> $W/alive; echo up > $W/up; exec sleep 1000')
      runner.kill('SIGKILL')
      expect(await alive()).toBe('')
    })

    test('never runs anything that it left in the worktree outside of the sandbox', () => {
      using place = makePlace(way)
      const evil = join(place.dir, 'home', 'evil')
      writeFiles(place.worktree, {
        'bunfig.toml': 'preload = ["./evil.ts"]\n',
        '.env': 'PLANTED=1\n',
        'evil.ts': `require('node:fs').writeFileSync(${JSON.stringify(evil)}, 'x')\n`,
      })
      const { result } = place.run('env')
      expect(existsSync(evil)).toBe(false)
      expect(result.stdout).not.toContain('PLANTED')
      expect(result.stdout).toContain(`HOME=${place.home}`)
    })

    test('gives its temporary folder by the usual variable', () => {
      using place = makePlace(way)
      // Of /tmp a session sees what holds its project and its automaton, which is this checkout where it lies there.
      const own = import.meta.dir.startsWith('/tmp/') ? import.meta.dir.split('/')[2] : 'automaton-test'
      const list = `ls $TMPDIR | grep -v -e automaton-test -e '^${own}$'`
      const { result } = place.run(`echo $TMPDIR; stat -c %a $TMPDIR; ${list}`)
      expect(result.stdout).toBe(`${way.kind === 'bwrap' ? '/tmp' : `${place.dir}-tmp`}\n700\n`)
    })
  })
}

for (const way of ways.filter(({ kind }) => kind === 'bwrap')) {
  describe.skipIf(isSkipped(way))(`all that a session in ${titleOf(way)} started`, () => {
    test('ends with its leader, what left its group included', async () => {
      using place = makePlace(way)
      const alive = pipe(place, 'alive')
      const { runner, leader } = await start(place, left)
      process.kill(leader, 'SIGKILL')
      expect(await alive()).toBe('')
      await runner.exited
    })

    test('ends with automaton', async () => {
      using place = makePlace(way)
      const alive = pipe(place, 'alive')
      const { runner } = await start(place, left)
      runner.kill('SIGKILL')
      expect(await alive()).toBe('')
    })

    test('sees no process outside', () => {
      using place = makePlace(way)
      const { result } = place.run('ls -d /proc/[0-9]* | wc -l')
      expect(Number(result.stdout)).toBeLessThan(10)
    })

    test('cannot bring a protected folder into being that did not exist', () => {
      using place = makePlace(way)
      const automatonHome = join(place.worktree, 'later')
      const { result } = place.run(
        'mkdir -p $W/later; echo x > $W/later/config.md; rmdir $W/later; mv $W/later $W/l',
        {
          automatonHome,
        },
      )
      expect(result.exitCode).not.toBe(0)
      expect(existsSync(automatonHome)).toBe(false)
      mkdirSync(automatonHome)
    })
  })
}
