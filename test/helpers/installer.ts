import { chmodSync, copyFileSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { binary, type Call } from './cli.ts'
import { type Files, git, makeRepo, writeFiles } from './repo.ts'
import { tempDir } from './temp.ts'

/** What a person has before an installation: a user of their own, a download folder, and repositories. */
export interface Machine extends Disposable {
  dir: string
  /** Their home folder; HOME is `.automaton` in it. */
  user: string
  home: string
  /** The folder with `install.sh` and the program. */
  downloads: string
  program: string
  /** Runs a program as this user, in their home folder, with a clean environment. */
  run(argv: string[], env?: Record<string, string>): Promise<Call>
  /** Runs `install.sh`. */
  install(args: string[], env?: Record<string, string>): Promise<Call>
  /** Runs the installed program. */
  call(...args: string[]): Promise<Call>
  /** Runs git as this user in HOME. */
  git(...args: string[]): Promise<string>
  /** The same in another folder. */
  gitIn(folder: string, ...args: string[]): Promise<string>
  /** The user's schedule, as their `crontab` keeps it. */
  crontab(): string
  /** Puts a program of this name first on the user's PATH. */
  fake(name: string, script: string): void
  /** Puts back the `crontab` that keeps this user's schedule. */
  fakeCrontab(): void
  /** A repository to clone from; with files it has one commit. */
  remote(name: string, files?: Files): string
  /** Commits files to such a repository as somebody else would, and returns the commit. */
  push(remote: string, files: Files): Promise<string>
  /** Gives what a test wrote to the user. */
  hand(): void
}

/** The user whom root's tests become: one that every system has, without rights. */
const nobody = 65534
const isRoot = process.getuid?.() === 0
const root = join(import.meta.dir, '..', '..')

/** Makes a machine with a path that holds spaces. As root its calls run as an ordinary user. */
export function makeMachine(): Machine {
  const temporary = tempDir('automaton test ')
  const dir = temporary.path
  const user = join(dir, 'a user')
  const downloads = join(dir, 'my downloads')
  const programs = join(dir, 'programs')
  for (const folder of [user, downloads, programs, join(dir, 'tmp')]) mkdirSync(folder)
  copyFileSync(join(root, 'install.sh'), join(downloads, 'install.sh'))
  const program = join(downloads, 'automaton')
  copyOrLink(binary, program)
  chmodSync(dir, 0o755)
  const crontabFile = join(dir, 'crontab')
  const machine: Machine = {
    ...{ dir, user, home: join(user, '.automaton'), downloads, program },
    async run(argv, env = {}) {
      machine.hand()
      const drop = ['setpriv', '--reuid', String(nobody), '--regid', String(nobody), '--clear-groups']
      const child = Bun.spawn([...(isRoot ? drop : []), ...argv], {
        cwd: user,
        env: {
          PATH: `${programs}:/usr/bin:/bin`,
          HOME: user,
          LANG: 'C.UTF-8',
          TMPDIR: join(dir, 'tmp'),
          ...env,
        },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
        timeout: 120_000,
        killSignal: 'SIGKILL',
      })
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      await child.exited
      return { code: child.exitCode, stdout, stderr, json: () => JSON.parse(stdout) }
    },
    install: (args, env) => machine.run(['sh', join(downloads, 'install.sh'), ...args], env),
    call: (...args) => machine.run([join(machine.home, 'bin', 'automaton'), ...args]),
    git: (...args) => machine.gitIn(machine.home, ...args),
    async gitIn(folder, ...args) {
      const who = { GIT_AUTHOR_NAME: 'Pat', GIT_AUTHOR_EMAIL: 'pat@example.test' }
      const too = { GIT_COMMITTER_NAME: 'Pat', GIT_COMMITTER_EMAIL: 'pat@example.test' }
      const done = await machine.run(['git', '-C', folder, ...args], { ...who, ...too })
      if (done.code !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`)
      return done.stdout.trimEnd()
    },
    crontab: () => readFileSync(crontabFile, 'utf8'),
    fake(name, script) {
      writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(programs, name), 0o755)
    },
    // What Debian's does, for this user alone: the schedule of whoever runs the tests is not touched.
    fakeCrontab: () => machine.fake('crontab', crontabScript(crontabFile)),
    remote(name, files) {
      const bare = join(dir, name)
      if (files) {
        makeRepo(`${bare}.work`, files)
        git(dir, 'clone', '-q', '--bare', `${bare}.work`, bare)
      } else {
        mkdirSync(bare)
        git(bare, 'init', '-q', '--bare', '-b', 'main')
      }
      return bare
    },
    async push(remote, files) {
      const work = `${remote}.work`
      writeFiles(work, files)
      await machine.gitIn(work, 'add', '-A')
      await machine.gitIn(work, 'commit', '-q', '-m', 'more')
      await machine.gitIn(work, 'push', '-q', remote, 'HEAD:main')
      return machine.gitIn(work, 'rev-parse', 'HEAD')
    },
    hand() {
      if (isRoot) Bun.spawnSync(['chown', '-R', `${nobody}:${nobody}`, dir])
    },
    [Symbol.dispose]: () => temporary[Symbol.dispose](),
  }
  writeFileSync(crontabFile, '')
  machine.fakeCrontab()
  return machine
}

/** The program has over 100 MB; a second name costs nothing. The copy that counts is the installer's. */
function copyOrLink(from: string, to: string): void {
  try {
    if (isRoot) copyFileSync(from, to)
    else linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
}

function crontabScript(file: string): string {
  return [
    `file='${file}'`,
    'case "$1" in',
    '  -l) if [ -s "$file" ]; then cat "$file"; else echo "no crontab for nobody" >&2; exit 1; fi ;;',
    '  -r) : >"$file" ;;',
    '  -T | -n) exit 0 ;;',
    '  -) cat >"$file.new" && mv "$file.new" "$file" ;;',
    '  *) cp "$1" "$file" ;;',
    'esac',
  ].join('\n')
}
