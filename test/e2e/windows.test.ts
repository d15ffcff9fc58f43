import { afterAll, beforeAll, describe, expect } from 'bun:test'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { automaton as callHere, readCall } from '../helpers/cli.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { tool } from '../helpers/tools.ts'
import { makeWine, type Wine } from '../helpers/wine.ts'

/** A project whose loop `nightly` is worked by `agent.exe`; the files of `steer` tell the agent what to do. */
interface Project {
  root: string
  loopDir: string
  steer: string
  call: (...args: string[]) => ReturnType<Wine['automaton']>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON files freely
  state(): any
}

/** With it, Wine and the compiler are wanted too. */
const windowsGit = tool('TEST_WINDOWS_GIT')
const { test } = windowsGit
const minutes = 60_000
const limit = 4 * minutes
/** In a worktree it is longer than the 260 characters that Windows takes by default. */
const longPath = `${'far-away/'.repeat(25)}file.txt`
let wine: Wine

describe('on Windows, as far as Wine plays it', () => {
  beforeAll(async () => {
    if (canRun()) wine = await makeWine(windowsGit.path())
  }, 5 * minutes)
  afterAll(async () => {
    await wine?.[Symbol.asyncDispose]()
  })

  test(
    'the program proves itself by doctor --self, and says that git does the work of the addon',
    async () => {
      const self = (await wine.automaton(['doctor', '--self', '--json'], wine.dir)).json()
      const checks = self.checks as { ok: boolean }[]
      expect(checks.length).toBeGreaterThan(5)
      expect(checks.filter(({ ok }) => !ok)).toEqual([])
      expect(self).toMatchObject({ ok: true, system: expect.stringContaining('win32 x64') })
      const { findings } = (await wine.automaton(['doctor', '--json'], wine.dir)).json()
      expect(findings).toContainEqual(expect.objectContaining({ what: 'simple-git', level: 'hint' }))
    },
    limit,
  )

  test(
    'two ticks at once are one tick, and what a session leaves running ends with it',
    async () => {
      const { call, steer, state, root, loopDir } = await project(
        'two at once',
        ['agent.exe'],
        (args, { cwd }) => wine.automaton(args, cwd),
      )
      writeFileSync(join(steer, 'linger'), '')
      const ticks = await Promise.all([call('tick', 'nightly', '--json'), call('tick', 'nightly', '--json')])
      expect(ticks.map((tick) => tick.code)).toEqual([0, 0])
      expect(ticks.map((tick) => tick.json().outcome).sort()).toEqual(['busy', 'worked'])
      expect(state()).toMatchObject({ iteration_count: 1, status: 'running' })
      expect(git(root, 'show', 'automaton/nightly:src/work.txt')).toBe('start\nmore')
      expect(lines(join(steer, 'started'))).toHaveLength(1)
      expect(wine.running('agent.exe --sleep')).toBe(0)
      expect(readFileSync(join(loopDir, 'worktree', longPath), 'utf8')).toBe('far down\n')
    },
    limit,
  )

  test(
    'a tick halts for drift, a person approves, and the next one works, its agent behind a shim of npm',
    async () => {
      const { call, steer, state, root } = await project('halted', ['shim.cmd'])
      writeFileSync(join(wine.bin, 'shim.cmd'), '@"%~dp0agent.exe"   %*\r\n')
      writeFileSync(join(steer, 'drift'), '')
      expect(await call('tick', 'nightly', '--json')).toMatchObject({ code: 4 })
      expect(state().halt).toMatchObject({ reason: 'drift_detected', detail: '1 out of scope' })
      rmSync(join(steer, 'drift'))
      const approval = ['--halt', state().halt.id, '--note', 'seen', '--discard']
      expect(await call('approve', '--loop', 'nightly', ...approval)).toMatchObject({ code: 0, stderr: '' })
      // The same folder by another of its names is the same project.
      const shouted = wine.path(root).toUpperCase().replace(/^Z/, 'z')
      const next = await call('tick', 'nightly', '--json', '--project', shouted)
      expect(next.json()).toMatchObject({ outcome: 'worked', to: 'code_review' })
      expect(git(root, 'ls-tree', '--name-only', 'automaton/nightly')).not.toContain('outside.txt')
    },
    limit,
  )

  test(
    'a tick that is killed takes its session along, and the next one recovers and works',
    async () => {
      const { call, steer, state, root } = await project('killed tick', ['script.cmd'])
      writeFileSync(join(wine.bin, 'script.cmd'), '@echo off\r\n"%~dp0agent.exe" "%~1"\r\n')
      writeFileSync(join(steer, 'wait'), '')
      const tick = wine.spawn([join(wine.bin, 'automaton.exe'), 'tick', 'nightly', '--json'], root)
      await until(() => lines(join(steer, 'started')).length === 2)
      expect(wine.running('agent.exe --sleep')).toBe(1)
      tick.kill('SIGKILL')
      await tick.exited
      await until(() => wine.running('agent.exe') === 0)
      rmSync(join(steer, 'wait'))
      const next = await call('tick', 'nightly', '--json')
      expect(next.json()).toMatchObject({ outcome: 'worked', to: 'code_review' })
      const kept = /refs\/automaton\/recovered\/[\w-]+/.exec(String(next.json().recovered))?.[0] ?? 'none'
      expect(git(root, 'show', `${kept}:src/work.txt`)).toBe('start\nmore')
      expect(state()).toMatchObject({ iteration_count: 1, status: 'running' })
    },
    limit,
  )

  test(
    'a session that takes too long is asked to end by Ctrl-C, and then ended with everything in it',
    async () => {
      const { call, steer, state, loopDir } = await project('slow')
      const config = JSON.parse(readFileSync(join(loopDir, 'loop.json'), 'utf8'))
      config.harness.timeout_seconds = 5
      writeFileSync(join(loopDir, 'loop.json'), JSON.stringify(config))
      writeFileSync(join(steer, 'wait'), '')
      writeFileSync(join(steer, 'polite'), '')
      const tick = await call('tick', 'nightly', '--json')
      expect(tick.code).toBe(5)
      expect(tick.stdout + tick.stderr).toContain('it ran past harness.timeout_seconds')
      expect(lines(join(steer, 'asked'))).toEqual(['0'])
      expect(wine.running('agent.exe')).toBe(0)
      expect(state()).toMatchObject({ iteration_count: 0, consecutive_errors: 1 })
    },
    limit,
  )

  test(
    'a schedule is registered as far as Wine can, and its script ticks under cmd.exe',
    async () => {
      const { call, state, root, loopDir } = await project('on schedule')
      const installed = await call('install-schedule', 'nightly', '--interval', '3600')
      // Wine registers a task, and cannot show it: what cannot be read back is said.
      expect(installed).toMatchObject({ code: 5, stdout: '' })
      expect(installed.stderr).toContain('schedule not as asked (nightly, by schtasks)')
      const tasks = join(wine.dir, 'prefix/drive_c/windows/system32/tasks/Automaton')
      const [name = 'none'] = readdirSync(tasks)
      expect(name).toStartWith('on-schedule-nightly')
      expect(readFileSync(join(tasks, name), 'utf8')).toContain('<Source>automaton ')

      const script = wine.path(join(loopDir, 'automaton-loop-tick.cmd'))
      const run = await readCall(wine.spawn(['cmd', '/d', '/c', script], root))
      expect(run).toMatchObject({ code: 0, stdout: '', stderr: '' })
      expect(state()).toMatchObject({ iteration_count: 1, status: 'running' })
    },
    limit,
  )

  test(
    'a lock has one holder, and a file that is replaced while others read it is whole and replaced',
    async () => {
      const [lock, mark] = ['lock', 'mark'].map((name) => wine.path(join(wine.dir, name)))
      const race = ['race', lock ?? '', mark ?? '', '10']
      const racers = await Promise.all([1, 2, 3].map(() => wine.script('store-locker', race)))
      expect(racers.map((racer) => racer.code)).toEqual([0, 0, 0])
      expect(readFileSync(join(wine.dir, 'mark.turns'), 'utf8')).toBe('.'.repeat(30))

      const file = join(wine.dir, 'busy')
      writeFileSync(file, Array(1000).fill('first').join(' '))
      const calls = ['write', 'read', 'write'].map((mode) =>
        wine.script('store-busy', [mode, wine.path(file), '2000']),
      )
      for (const call of await Promise.all(calls)) {
        expect(call.json()).toMatchObject({ problems: [] })
        expect(Number(call.json().turns)).toBeGreaterThan(0)
      }
    },
    limit,
  )

  test(
    'a protected file is protected by every name that Windows has for it',
    async () => {
      const { call } = await project('names')
      const answers = await Promise.all(
        [
          'src\\work.txt',
          'AGENTS.md',
          'agents.MD.',
          'AGENTS.md::$DATA',
          '.git\\hooks\\pre-commit',
          'C:\\windows\\x',
        ].map(async (path) => [path, (await call('can-edit', path)).code]),
      )
      expect(Object.fromEntries(answers)).toEqual({
        'src\\work.txt': 0,
        'AGENTS.md': 3,
        'agents.MD.': 3,
        'AGENTS.md::$DATA': 3,
        '.git\\hooks\\pre-commit': 3,
        'C:\\windows\\x': 3,
      })
    },
    limit,
  )

  test(
    'it installs into a HOME, updates it while its own program runs, and takes itself away',
    async () => {
      const remote = join(wine.dir, 'remote.git')
      git(wine.dir, 'init', '-q', '--bare', '-b', 'main', remote)
      await using served = await serveGit(wine.dir)
      const home = join(wine.dir, 'installed')
      // What Wine lacks has to lie beside each copy of the program.
      mkdirSync(join(home, 'bin'), { recursive: true })
      copyFileSync(join(wine.bin, 'bcryptprimitives.dll'), join(home, 'bin', 'bcryptprimitives.dll'))
      const installed = join(home, 'bin', 'automaton.exe')
      const call = (program: string, ...args: string[]) =>
        readCall(wine.spawn([program, ...args], wine.dir, { AUTOMATON_HOME: wine.path(home) }))
      const first = await call(
        join(wine.bin, 'automaton.exe'),
        'install',
        '--git-url',
        `${served.url}/remote.git`,
      )
      expect(first.stdout + first.stderr).toContain('was empty: the first files are')
      expect(first.code).toBe(0)
      expect(existsSync(join(home, '.automaton', 'loops', 'self-improvement', 'loop.json'))).toBe(true)

      git(home, 'push', '-q', remote, 'main')
      const work = join(wine.dir, 'remote work')
      git(wine.dir, 'clone', '-q', remote, work)
      writeFiles(work, { 'config.md': 'backend: remote\n', 'prompts/mine.md': 'mine\n' })
      git(work, 'add', '-A')
      git(work, 'commit', '-q', '-m', 'more')
      git(work, 'push', '-q', remote, 'HEAD:main')
      writeFileSync(join(home, 'README.md'), 'my own\n')
      const update = await call(installed, 'install', '--json')
      expect(update.json()).toMatchObject({
        repository: { outcome: 'updated' },
        program: { replaced: false },
      })
      expect(readFileSync(join(home, 'config.md'), 'utf8')).toBe('backend: remote\n')
      expect(git(home, 'status', '--porcelain', '--untracked-files=no')).toBe('M README.md')

      // Wine's schtasks registers a task, but removes none.
      rmSync(join(home, '.automaton', 'loops'), { recursive: true })
      const gone = await call(installed, 'uninstall', '--yes', '--json')
      expect(gone.stderr).toBe('')
      expect(gone.json().removed).toEqual([wine.path(installed)])
      expect(existsSync(installed)).toBe(false)
      expect(git(home, 'log', '--oneline').split('\n')).toHaveLength(2)
    },
    limit,
  )
})

/** A server for the repositories in a folder: the git that runs under Wine has no shell to read them with itself. */
async function serveGit(folder: string): Promise<{ url: string } & AsyncDisposable> {
  using free = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = free
  free.stop()
  const options = [
    '--verbose',
    '--export-all',
    `--base-path=${folder}`,
    '--listen=127.0.0.1',
    `--port=${port}`,
  ]
  const daemon = Bun.spawn(['git', 'daemon', ...options], { stdout: 'ignore', stderr: 'pipe' })
  const { value } = await daemon.stderr.getReader().read()
  expect(new TextDecoder().decode(value)).toContain('Ready to rumble')
  return {
    url: `git://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      daemon.kill()
      await daemon.exited
    },
  }
}

/** Whether the tests here run, or fail for want of a tool. */
function canRun(): boolean {
  return Boolean(process.env.TEST_WINDOWS_GIT || process.env.TEST_REQUIRE_TOOLS)
}

/** Set up by this system's own automaton, which takes a fraction of the time, or by Windows'. */
async function project(name: string, command = ['agent.exe'], by = callHere): Promise<Project> {
  const root = join(wine.dir, name)
  const steer = join(wine.dir, `${name}-steer`)
  mkdirSync(steer)
  makeRepo(root, { 'src/work.txt': 'start\n', 'brief.md': 'Fix it, please.\n', [longPath]: 'far down\n' })
  const call = (...args: string[]) => wine.automaton(args, root)
  for (const args of [
    ['init'],
    ['create-loop', 'nightly', '--from-template', 'backlog', '--scope', 'src/'],
    ['create-task', 'fix-it', '--brief', 'brief.md'],
  ]) {
    const made = await by(args, { cwd: root, home: join(wine.dir, 'home') })
    if (made.code !== 0) throw new Error(`${args.join(' ')}: exit ${made.code}\n${made.stderr}`)
  }
  const loopDir = join(root, '.automaton', 'loops', 'nightly')
  const file = join(loopDir, 'loop.json')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  const [program = '', ...rest] = command
  config.harness.command = [wine.path(join(wine.bin, program)), ...rest, wine.path(steer)]
  config.harness.timeout_seconds = 60
  config.roles.orchestrate.mode = 'rules'
  writeFileSync(file, JSON.stringify(config))
  const state = () => JSON.parse(readFileSync(join(loopDir, '.state.loop'), 'utf8'))
  return { root, loopDir, steer, call, state }
}

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 2 * minutes
  while (!holds()) {
    if (performance.now() > end) throw new Error('it never came')
    await Bun.sleep(50)
  }
}

function lines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split(/\r?\n/).filter(Boolean) : []
}
