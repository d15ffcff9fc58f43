import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unzipSync } from 'fflate'
import { type Call, readCall } from './cli.ts'
import { tempDir } from './temp.ts'

/** Debian keeps it out of PATH. */
const server = '/usr/lib/wine/wineserver'
/** Parts of Windows that Wine would offer to download, and entries in the desktop's menus. */
const notOffered = 'mscoree,mshtml,winemenubuilder.exe='
const fixtures = join(import.meta.dir, '..', 'fixtures', 'windows')

/** Windows as far as Wine plays it: a prefix of its own, the built `automaton.exe`, git for Windows and a fake agent. */
export interface Wine extends AsyncDisposable {
  /** A temporary folder. */
  dir: string
  /** The folder of `automaton.exe` and `agent.exe`. */
  bin: string
  /** A path as the programs in there name it. */
  path(unix: string): string
  /** Starts a Windows program. */
  spawn(argv: string[], cwd: string, more?: Record<string, string>): Bun.Subprocess<'ignore', 'pipe', 'pipe'>
  /** Runs `automaton.exe` to its end. */
  automaton(args: string[], cwd: string): Promise<Call>
  /** Runs one of `test/fixtures/bin` to its end, bundled, by the runtime in `automaton.exe`. */
  script(name: string, args: string[]): Promise<Call>
  /** How many processes run whose command line holds this text. */
  running(text: string): number
}

/** Makes a prefix and builds what runs in it. `windowsGit` is the path of `git.exe`. */
export async function makeWine(windowsGit: string): Promise<Wine> {
  const temporary = tempDir('automaton-wine-')
  const dir = temporary.path
  const bin = join(dir, 'bin')
  for (const name of ['bin', 'home', 'prefix']) mkdirSync(join(dir, name))
  const path = (unix: string) => `Z:${unix.replaceAll('/', '\\')}`
  const env = {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: join(dir, 'home'),
    LANG: 'C.UTF-8',
    WINEPREFIX: join(dir, 'prefix'),
    WINEDEBUG: '-all',
    WINEPATH: path(dirname(windowsGit)),
    AUTOMATON_HOME: path(join(dir, 'home', '.automaton')),
  }
  const run = (argv: string[]) => must(argv, env)
  await Promise.all([
    install(env),
    build(bin),
    compile(['-shared', '-o', join(bin, 'bcryptprimitives.dll'), 'bcryptprimitives.c', '-ladvapi32']),
    compile(['-o', join(bin, 'agent.exe'), 'agent.c']),
  ])
  const bundles = new Map<string, Promise<unknown>>()
  const wine: Wine = {
    dir,
    bin,
    path,
    spawn: (argv, cwd, more) =>
      Bun.spawn(['wine', ...argv], {
        cwd,
        env: { ...env, ...more },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    automaton: (args, cwd) => readCall(wine.spawn([join(bin, 'automaton.exe'), ...args], cwd)),
    async script(name, args) {
      const entry = join(import.meta.dir, '..', 'fixtures', 'bin', `${name}.ts`)
      if (!bundles.has(name))
        bundles.set(name, Bun.build({ entrypoints: [entry], target: 'bun', outdir: bin }))
      await bundles.get(name)
      const argv = [join(bin, 'automaton.exe'), path(join(bin, `${name}.js`)), ...args]
      return readCall(wine.spawn(argv, bin, { BUN_BE_BUN: '1' }))
    },
    running,
    async [Symbol.asyncDispose]() {
      await run([server, '-k'])
      await run([server, '-w'])
      temporary[Symbol.dispose]()
    },
  }
  return wine
}

async function install(env: Record<string, string>): Promise<void> {
  await must(['wine', 'wineboot', '-i'], { ...env, WINEDLLOVERRIDES: notOffered })
  await must(['wine', 'winecfg', '-v', 'win10'], env)
  // Services start with the system, if they were there by then. They would hold the output of a call that starts it.
  await must([server, '-k'], env)
  await must([server, '-w'], env)
  // The server stays between two calls, so that not each of them starts Windows anew.
  await must([server, '-p'], env)
  await must(['wine', 'wineboot'], env)
}

/** The binary of `TEST_AUTOMATON_EXE`, that of the release in `TEST_RELEASE`, or one that is built now. */
async function build(bin: string): Promise<void> {
  const file = join(bin, 'automaton.exe')
  const { TEST_AUTOMATON_EXE: built, TEST_RELEASE: release } = process.env
  if (built) return must(['cp', built, file], {})
  if (release) {
    const archive = await Bun.file(join(release, 'automaton-windows-x64.zip')).bytes()
    const { 'automaton.exe': program } = unzipSync(archive, {
      filter: ({ name }) => name === 'automaton.exe',
    })
    if (!program) throw new Error('the archive for Windows holds no automaton.exe')
    return void (await Bun.write(file, program))
  }
  const root = join(import.meta.dir, '..', '..')
  await must([process.execPath, join(root, 'build.ts'), file, 'bun-windows-x64'], process.env)
}

function compile(args: string[]): Promise<void> {
  return must(['x86_64-w64-mingw32-gcc', '-O1', '-s', ...args], process.env, fixtures)
}

/** What it says goes to a file: a service that it starts would hold a pipe open. */
async function must(argv: string[], env: Record<string, string | undefined>, cwd = '/'): Promise<void> {
  using log = tempDir()
  const said = Bun.file(join(log.path, 'said'))
  const child = Bun.spawn(argv, { cwd, env, stdin: 'ignore', stdout: 'ignore', stderr: said })
  if ((await child.exited) === 0) return
  throw new Error(`${argv.join(' ')}: exit ${child.exitCode}\n${await said.text()}`)
}

function running(text: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => {
    const file = `/proc/${pid}/cmdline`
    return existsSync(file) && readOrEmpty(file).replaceAll('\0', ' ').includes(text)
  }).length
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // It ended between the two looks.
    return ''
  }
}
