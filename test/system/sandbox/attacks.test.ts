import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { landlockAbi } from '../../../src/system/sandbox/landlock.ts'
import { tempDir } from '../../helpers/temp.ts'
import { isSkipped, makePlace, type Place, type SessionSeen, titleOf, ways } from './session.ts'

/** What a session has to be able to do, by name. */
const work = {
  'write in the worktree': 'mkdir -p $W/sub && echo x > $W/sub/new && mv $W/sub/new $W/moved && rm $W/moved',
  'move a file between folders of the worktree': 'mkdir $W/p $W/q && echo x > $W/p/f && mv $W/p/f $W/q/f',
  'leave its papers': 'echo "{}" > $W/.automaton-run/intent.json',
  'use its temporary folder': 'f=$(mktemp) && echo x > "$f"',
  'read the project': 'cat $R/a.txt $L/loop.json',
  'ask git about the worktree': 'git status && git log -1 && git diff',
  'write a folder that the harness declared': 'echo x > ~/.agent/state/session',
  'use a declared folder among hidden ones': 'cat ~/.aws/sso/token && echo x > ~/.aws/sso/new',
  'read what lies next to hidden folders': 'cat ~/.config/other ~/.bashrc',
  'write to the usual devices': 'echo x > /dev/null && echo x > /dev/shm/$$ && rm /dev/shm/$$',
}

/** What no session may do, by name. */
const attacks = {
  'commit in the worktree': 'git add -A && git commit --allow-empty -m x',
  'stage a file': 'echo x > $W/staged && git add staged',
  'change the git configuration': 'git config core.fsmonitor evil',
  'add to the configuration by hand': 'echo "[alias]" >> $R/.git/config',
  'plant a hook': 'echo x > $R/.git/hooks/post-checkout',
  'move main': 'git update-ref refs/heads/main $(git rev-parse HEAD)',
  'overwrite main by hand': 'echo 0 > $R/.git/refs/heads/main',
  'make a branch': 'git branch other',
  'make a tag': 'git tag t',
  'replace a commit': 'git replace -f HEAD HEAD^{tree}',
  'pack the refs': 'git pack-refs --all',
  'move the refs away': 'mv $R/.git/refs/heads $R/.git/refs/heads_x',
  'destroy the history': 'rm -rf $R/.git/objects',
  'make another worktree': 'git worktree add $W/other',
  'unlock its own git folder': 'echo x > $R/.git/worktrees/worktree/config.worktree',
  'write in the primary checkout': 'echo x >> $R/a.txt',
  'make a file in the primary checkout': 'echo x > $R/new.txt',
  'change loop.json': 'echo x > $L/loop.json',
  'replace loop.json': 'echo x > $W/l && mv $W/l $L/loop.json',
  'empty the state': 'truncate -s 0 $L/.state.loop',
  'take the state away': 'rm -f $L/.state.loop && ! test -e $L/.state.loop',
  'leave a request next to the state': 'echo x > $L/.pause-request',
  'move its loop away': 'mv $L $L-away',
  'write where HOME is': 'echo x > ~/new',
  'change the shell of the person': 'echo x >> ~/.bashrc',
  "change automaton's HOME": 'echo x >> ~/.automaton/config.md',
  'write through a link': 'ln -s $R/a.txt $W/link && echo x >> $W/link',
  'write through a hard link': 'ln $R/a.txt $W/hard && echo x >> $W/hard',
  'read a key': 'cat ~/.ssh/id',
  'read a key through a link': 'cat ~/keys/id',
  'read a key from the root of a process': 'cat /proc/self/root$HOME/.ssh/id',
  'read a password file': 'cat ~/.netrc',
  'read a token below .config': 'cat ~/.config/gh/hosts.yml',
  'write in a hidden folder': 'echo x > ~/.ssh/authorized_keys',
  "write in other programs' temporary files": 'echo x > $NEIGHBOUR/file',
  'make a disk device': 'mknod $W/disk b 1 0',
  'name a program for the kernel to run': ': >> /proc/sys/kernel/core_pattern',
  'mount over its walls': 'mount --bind $W $L',
  'mount over its walls as root of a namespace': 'unshare -Urm mount --bind $W $L',
  'make the root writable': 'mount -o remount,rw,bind / || unshare -Urm mount -o remount,rw,bind /',
  'signal automaton': 'kill -0 $OUTSIDE',
  "read automaton's environment": 'cat /proc/$OUTSIDE/environ',
}

/** What bubblewrap prevents and Landlock cannot. */
const onlyBubblewrap = {
  "remove the worktree's .git file": 'cp $W/.git $W/kept && rm $W/.git && mv $W/kept $W/.git',
  "rewrite the worktree's .git file": 'cp $W/.git $W/kept && cat $W/kept > $W/.git',
  "see other programs' temporary files": 'cat $NEIGHBOUR/file',
  'list a hidden folder': 'ls ~/.ssh | grep id',
  'talk to a service that acts for the user': '"$BUN" -e "$CONNECT" "$HOME/.docker/run/docker.sock"',
}

/** What the kernel's Landlock prevents of that. */
const laterLandlock = landlockAbi() >= 9 ? ['talk to a service that acts for the user'] : []

const connect = [
  "require('node:net').connect(process.argv.at(-1))",
  ".on('connect', () => process.exit(0)).on('error', () => process.exit(1))",
].join('')

for (const way of ways) {
  describe.skipIf(isSkipped(way))(`a session in ${titleOf(way)}`, () => {
    let place: Place
    let before: string
    let after: string
    let seen: SessionSeen
    let outcome: Map<string, string>
    let service: { stop(): void } | undefined
    const neighbour = tempDir()
    beforeAll(() => {
      place = makePlace(way)
      writeFileSync(join(neighbour.path, 'file'), 'theirs\n')
      Bun.spawnSync(['chmod', '-R', 'a+rX', neighbour.path])
      const socket = join(place.home, '.docker', 'run', 'docker.sock')
      mkdirSync(dirname(socket), { recursive: true })
      service = Bun.listen({ unix: socket, socket: { data() {} } })
      chmodSync(socket, 0o777)
      const tools = { BUN: process.execPath, CONNECT: connect, NEIGHBOUR: neighbour.path }
      const env = { ...tools, D: place.dir, R: place.repo, L: place.loopDir, W: place.worktree }
      const tries = Object.entries({ ...work, ...attacks, ...onlyBubblewrap })
      const script = tries.map(
        ([name, act]) => `if ( ${act} ) >&2; then echo "+${name}"; else echo "-${name}"; fi`,
      )
      before = fingerprint(place)
      seen = place.run(`${identity}\n${script.join('\n')}`, { env })
      after = fingerprint(place)
      const lines = seen.result.stdout.split('\n').filter((line) => /^[+-]/.test(line))
      outcome = new Map(lines.map((line) => [line.slice(1), line.startsWith('+') ? 'done' : 'denied']))
    })
    afterAll(() => {
      service?.stop()
      place?.[Symbol.dispose]()
      neighbour[Symbol.dispose]()
    })

    test('is in that sandbox, as that user', () => {
      expect(seen.choice).toMatchObject({ tier: 'T1', kind: way.kind })
      expect(seen.uid === 0).toBe(way.who === 'self' && process.getuid?.() === 0)
    })
    for (const name of Object.keys(work))
      test(`can ${name}`, () =>
        expect([outcome.get(name), seen.result.stderr]).toEqual(['done', expect.any(String)]))
    for (const name of Object.keys(attacks))
      test(`cannot ${name}`, () => expect(outcome.get(name)).toBe('denied'))
    for (const name of Object.keys(onlyBubblewrap)) {
      const prevented = way.kind === 'bwrap' || laterLandlock.includes(name)
      test(`${prevented ? 'cannot' : 'can, which is documented,'} ${name}`, () =>
        expect(outcome.get(name)).toBe(prevented ? 'denied' : 'done'))
    }

    test('changes nothing but what it was given', () => {
      expect(after).toBe(before)
      expect(readFileSync(join(neighbour.path, 'file'), 'utf8')).toBe('theirs\n')
    })
    test('leaves no temporary folder', () => expect(existsSync(`${place.dir}-tmp`)).toBe(false))
  })
}

const identity = [
  'export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@example.test',
  'export GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@example.test',
].join('\n')

/** Every file outside of what the session may write, with its kind, size and content. */
function fingerprint({ dir, worktree, home }: Place): string {
  const given = new Set([worktree, join(home, '.agent'), join(home, '.aws', 'sso')])
  const lines: string[] = []
  const walk = (folder: string) => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name)
      if (given.has(path)) continue
      const found = lstatSync(path)
      const text = found.isFile() ? readFileSync(path) : ''
      lines.push(`${path} ${found.mode} ${createHash('sha256').update(text).digest('hex')}`)
      if (found.isDirectory()) walk(path)
    }
  }
  walk(dir)
  return lines.join('\n')
}
