import { lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a freshly installed Debian has at least, and git. */
const wanted = [
  'base-files',
  'coreutils',
  'dash',
  'findutils',
  'git',
  'grep',
  'gzip',
  'libc-bin',
  'sed',
  'tar',
]

/** What nobody runs. */
const unneeded = /^\/usr\/share\/(?:doc|man|info|locale|lintian|bug|perl|zsh|bash-completion)(?:\/|$)/

/**
 * Makes a Debian system of a few packages in a folder: those files of this machine's packages, and nothing else of it. No
 * network, no node, no npm, no curl. Returns the names of the packages.
 */
export function makeBareRoot(folder: string): string[] {
  const packages = closure(wanted)
  const files = run('dpkg-query', '-L', ...packages)
    .split('\n')
    .filter((file) => file.startsWith('/') && file !== '/.' && !unneeded.test(file))
    // Small images of Debian leave files out that the lists of packages name.
    .filter((file) => lstatSync(file, { throwIfNoEntry: false }) !== undefined)
  const list = `${folder}.list`
  writeFileSync(
    list,
    [...new Set(files)]
      .sort()
      .map((file) => `.${file}\0`)
      .join(''),
  )
  // Where Debian's links of `/bin`, `/lib` and so on lead: files are unpacked through them.
  for (const name of ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'])
    mkdirSync(join(folder, 'usr', name), { recursive: true })
  const archive = `${folder}.tar`
  run('tar', '-C', '/', '-cf', archive, '--no-recursion', '--null', '-T', list)
  run('tar', '-C', folder, '-xf', archive)
  for (const name of ['dev', 'proc', 'tmp', 'home']) mkdirSync(join(folder, name), { recursive: true })
  run('chmod', '1777', join(folder, 'tmp'))
  run('mknod', '-m', '666', join(folder, 'dev', 'null'), 'c', '1', '3')
  run('mknod', '-m', '666', join(folder, 'dev', 'urandom'), 'c', '1', '9')
  return packages
}

/** The packages and all that they need, as this machine has them installed. */
function closure(names: string[]): string[] {
  const needs = new Map<string, string[]>()
  const provided = new Map<string, string>()
  const field = (name: string) => `\${${name}}`
  const format = `${field('Package')}\t${field('Pre-Depends')},${field('Depends')}\t${field('Provides')}\n`
  for (const line of run('dpkg-query', '-W', '-f', format).split('\n')) {
    const [name = '', depends = '', provides = ''] = line.split('\t')
    needs.set(name, depends.split(/[,|]/).map(plainName).filter(Boolean))
    for (const other of provides.split(',').map(plainName)) provided.set(other, name)
  }
  const found = new Set<string>()
  const add = (name: string): void => {
    const real = needs.has(name) ? name : provided.get(name)
    if (real === undefined || found.has(real)) return
    found.add(real)
    for (const other of needs.get(real) ?? []) add(other)
  }
  for (const name of names) add(name)
  return [...found].sort()
}

/** `libc6 (>= 2.34)` and `perl:any` without version and architecture. */
function plainName(text: string): string {
  return text.trim().replace(/[\s:(].*$/, '')
}

function run(...argv: string[]): string {
  const done = Bun.spawnSync(argv, { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } })
  if (done.exitCode !== 0) throw new Error(`${argv.slice(0, 4).join(' ')}: ${done.stderr}`)
  return done.stdout.toString()
}
