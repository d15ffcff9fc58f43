import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { callEnv } from '../helpers/cli.ts'
import { git, makeRepo } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { tool } from '../helpers/tools.ts'

/** The folder of a whole release, and the folder that `.ci/roots` fills. */
export const release = tool('TEST_RELEASE')
export const roots = tool('TEST_FOREIGN_ROOTS')

/** A released program for another Linux, a repository, and how to run the one in the other. */
export interface World extends Disposable {
  root: string
  home: string
  tmp: string
  /** Runs the program to its end, in the repository. */
  run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>
}

/** Unpacks the program of a target, and makes a repository for it. The system under it is this one, but for its libraries. */
export function makeWorld(target: string): World {
  const dir = tempDir()
  const [root, home, tmp, bin] = ['work', 'home', 'tmp', 'bin'].map((name) => join(dir.path, name))
  if (!root || !home || !tmp || !bin) throw new Error('no places')
  for (const folder of [root, home, tmp, bin]) mkdirSync(folder)
  makeRepo(root, { 'README.md': '# x\n', 'src/a.txt': 'a\n' })
  git(root, 'checkout', '-q', '-B', 'main')
  const archive = join(release.path(), `automaton-${target}.tar.gz`)
  const unpacked = Bun.spawnSync(['tar', '-xzf', archive, '-C', bin])
  if (unpacked.exitCode !== 0) throw new Error(unpacked.stderr.toString())
  const emulator = target.includes('arm64') ? (Bun.which('qemu-aarch64-static') ?? 'qemu-aarch64-static') : ''
  const enter = ['unshare', '--user', '--map-root-user', '--mount', join(import.meta.dir, 'enter')]
  return {
    root,
    home,
    tmp,
    [Symbol.dispose]: () => dir[Symbol.dispose](),
    async run(...args) {
      const child = Bun.spawn(
        [...enter, join(roots.path(), target), emulator, join(bin, 'automaton'), ...args],
        {
          cwd: root,
          env: callEnv({ cwd: root, home, env: { TMPDIR: tmp } }),
          stdout: 'pipe',
          stderr: 'pipe',
        },
      )
      const [stdout, stderr, code] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
        child.exited,
      ])
      return { code, stdout, stderr }
    },
  }
}
