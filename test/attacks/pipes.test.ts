import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findSandbox } from '../../src/system/sandbox/tier.ts'
import type { Call } from '../helpers/cli.ts'
import type { TestProject } from '../helpers/project.ts'
import { artifact, files, gitCommit, makeTarget } from './kit.ts'

setDefaultTimeout(120_000)

/** Whatever a call finds, it has ended by then; on a busy machine this is many times what one needs. */
const limitMs = 30_000
const isPosix = process.platform !== 'win32'
const bwrap = (await findSandbox({ path: process.env.PATH ?? '', mode: 'auto' })).kind === 'bwrap'

/** A repository with a commit in the worktree. */
const nested = `git init -q src/sub; (cd src/sub; echo x > x; git add x; ${gitCommit})`

/** What a session does to a repository of its own, and how the halt names it. */
const planted: Record<string, [script: string, named: string]> = {
  'a pipe that is copied': ['mkfifo src/sub/.git/shallow', 'src/sub/.git/shallow'],
  'a pipe for refs': ['mkfifo src/sub/.git/packed-refs', 'src/sub/.git/packed-refs'],
  'a pipe for a ref': [
    'f=src/sub/.git/refs/heads/$(git -C src/sub branch --show-current); rm $f; mkfifo $f; mv $f src/sub/.git/refs/heads/b; echo ref: refs/heads/b > src/sub/.git/HEAD',
    'src/sub/.git/refs/heads/b',
  ],
  'a pipe for an index of objects': [
    'd=src/sub/.git/objects/pack; mkdir -p $d; : > $d/pack-1.pack; mkfifo $d/pack-1.idx',
    'src/sub/.git/objects/pack/pack-1.idx',
  ],
  'a pipe for a configuration': ['rm src/sub/.git/config; mkfifo src/sub/.git/config', 'src/sub/.git/config'],
  'a link to a pipe': [
    'mkfifo src/pipe; ln -s ../../pipe src/sub/.git/packed-refs',
    'src/sub/.git/packed-refs',
  ],
  'a link to a device': ['rm src/sub/.git/index; ln -s /dev/zero src/sub/.git/index', 'src/sub/.git/index'],
  'a folder of refs elsewhere': [
    'rm -r src/sub/.git/refs; mkdir -p src/e/heads; mkfifo src/e/heads/b; ln -s ../../e src/sub/.git/refs; echo ref: refs/heads/b > src/sub/.git/HEAD',
    'src/sub/.git/refs',
  ],
  'a git folder elsewhere': [
    'mv src/sub/.git src/elsewhere; mkfifo src/elsewhere/packed-refs; echo "gitdir: ../elsewhere" > src/sub/.git',
    'src/sub/.git',
  ],
  'more objects elsewhere': [
    'mkdir -p src/more/pack; : > src/more/pack/pack-1.pack; mkfifo src/more/pack/pack-1.idx; echo ../../../more > src/sub/.git/objects/info/alternates',
    'src/sub/.git/objects/info/alternates',
  ],
  'a configuration that includes one': [
    'mkfifo src/pipe; printf "[include]\\n path = ../../pipe\\n" >> src/sub/.git/config',
    'src/sub/.git/config',
  ],
}

describe.if(isPosix)('in a repository inside the worktree, which halts by its name', () => {
  for (const [name, [script, named]] of Object.entries(planted)) {
    test.concurrent(name, async () => {
      using p = await target('off', `${nested}\n${script}\n${artifact}`)
      await haltsAndGoesOn(p, named)
    })
  }

  test.if(bwrap)('a pipe that is copied, in bubblewrap (skipped where there is none)', async () => {
    using p = await target('required', `${nested}\nmkfifo src/sub/.git/shallow\n${artifact}`)
    await haltsAndGoesOn(p, 'src/sub/.git/shallow')
  })
})

describe.if(isPosix)('in the shared git folder, which is one error by its name', () => {
  const names = [
    ...['shallow', 'info/exclude', 'packed-refs', 'config', 'objects/info/alternates', 'refs/heads/main'],
    ...['gitdir', 'HEAD', 'index', 'commondir', 'logs/HEAD'].map((name) => `worktrees/worktree/${name}`),
  ]
  for (const name of names) {
    test.concurrent(name, async () => {
      using p = await target(
        'off',
        `f="$(git rev-parse --git-common-dir)/${name}"; rm -f $f; mkfifo $f; ${artifact}`,
      )
      const tick = await endsInTime(p, ['tick', p.loop])
      expect(tick.code).toBe(5)
      expect(tick.stderr).toContain(join(p.root, '.git', name))
      expect(tick.stderr).toContain('is a pipe')
      const all = await endAll(p)
      expect(all.doctor.stdout + all.doctor.stderr).toContain(`rm ${join(p.root, '.git', name)}`)
    })
  }
})

describe.if(isPosix)('anywhere else, where nothing waits for it', () => {
  const loop = '.automaton/loops/nightly'
  const names = [
    ...['loop.json', 'run.json', 'loop-implement.md', 'outputs/implement.md'].map(
      (name) => `${loop}/${name}`,
    ),
    ...['.git', 'src/work.txt', '.automaton-run/cost.json'].map((name) => `${loop}/worktree/${name}`),
    ...['.automaton/tasks/fix-it/TASK.md', '.automaton/config.json', '.automaton/plugins/x.ts'],
    ...['.automaton/loops/other/loop.json', '.gitignore', 'src/pipe'],
  ]
  for (const name of names) {
    test.concurrent(name, async () => {
      using p = await target('off', '')
      const make = [
        'echo x > out',
        `f='${join(p.root, name)}'`,
        'rm -rf "$f"; mkdir -p "$(dirname "$f")"; mkfifo "$f"',
      ]
      p.script({ implement: `${make.join('\n')}\n${artifact}` })
      await endsInTime(p, ['tick', p.loop])
      await endAll(p)
    })
  }
})

function target(sandbox: string, implement: string): Promise<TestProject> {
  return makeTarget({ files, createArgs: ['--scope', 'src/'], scenario: { implement } }, sandbox)
}

/** The halt names it, a person throws the work away, and the next tick runs as ever. */
async function haltsAndGoesOn(p: TestProject, named: string): Promise<void> {
  const tick = await endsInTime(p, ['tick', p.loop])
  expect(tick.code, tick.stderr).toBe(4)
  const { halt } = p.state()
  expect(halt.files).toContain(named)
  const { approve } = await endAll(p)
  expect(approve.code, approve.stderr).toBe(0)
  expect(existsSync(join(p.worktree, 'src', 'sub'))).toBe(false)
  p.script({ implement: `echo x >> src/work.txt; ${artifact}` })
  expect((await endsInTime(p, ['tick', p.loop])).code).toBe(0)
}

/** Calls everything that looks at a project. */
async function endAll(p: TestProject): Promise<{ doctor: Call; approve: Call }> {
  for (const args of [['status'], ['check-gate', p.loop], ['audit'], ['tick', p.loop]])
    await endsInTime(p, args)
  const doctor = await endsInTime(p, ['doctor'])
  const file = join(p.loopDir, '.state.loop')
  const id = existsSync(file) ? (p.state().halt?.id ?? 'none') : 'none'
  const approve = await endsInTime(p, ['approve', '--loop', p.loop, '--halt', id, '--discard'])
  return { doctor, approve }
}

async function endsInTime(p: TestProject, args: string[]): Promise<Call> {
  const call = await p.call(args, { timeoutMs: limitMs })
  expect(call.code, `${args.join(' ')}\n${call.stdout}${call.stderr}`).not.toBeNull()
  // 1 is an error that nobody foresaw.
  expect(call.stderr).not.toContain('unexpected')
  return call
}
