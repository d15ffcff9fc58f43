import { describe, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { needs } from '../crash/needs.ts'
import { type Machine, makeMachine } from '../helpers/installer.ts'
import { must } from '../helpers/project.ts'
import { tool } from '../helpers/tools.ts'

const root = join(import.meta.dir, '..', '..')

/** A program that says which one it is, and how it was called. */
const program = (target: string) => `#!/bin/sh
if [ "$1" = --version ]; then echo "automaton 1.2.3"; else echo "$AUTOMATON_HOME got ${target}: $*"; fi
`

/** A release folder with a program for each target, as the build makes it. */
function makeRelease(m: Machine, targets: string[], folder = join(m.dir, 'a release')): string {
  mkdirSync(folder, { recursive: true })
  const sums = targets.map((target) => {
    const stage = join(m.dir, `stage-${target}`)
    mkdirSync(stage)
    writeFileSync(join(stage, 'automaton'), program(target))
    chmodSync(join(stage, 'automaton'), 0o755)
    writeFileSync(join(stage, 'LICENSE'), 'MIT\n')
    const archive = join(folder, `automaton-${target}.tar.gz`)
    Bun.spawnSync(['tar', '-czf', archive, '-C', stage, 'automaton', 'LICENSE'])
    const sum = new Bun.CryptoHasher('sha256').update(readFileSync(archive)).digest('hex')
    return `${sum}  automaton-${target}.tar.gz\n`
  })
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  return folder
}

const all = [
  ...['linux-x64', 'linux-x64-baseline', 'linux-x64-musl', 'linux-arm64'],
  ...['linux-arm64-musl', 'darwin-x64', 'darwin-arm64'],
]

/** A machine of some kind, as the programs say that ask about it. */
function pretend(
  m: Machine,
  kind: { system: string; processor: string; musl?: boolean; old?: boolean },
): void {
  m.fake(
    'uname',
    `case $1 in -s) echo ${kind.system};; -m) echo ${kind.processor};; *) echo ${kind.system};; esac`,
  )
  m.fake('getconf', kind.musl ? 'exit 1' : 'echo glibc 2.36')
  m.fake('ldd', kind.musl ? 'echo "musl libc (x86_64)" >&2; exit 1' : 'echo "ldd (GNU libc) 2.36"')
  m.fake('sysctl', `case $2 in *leaf7*) echo ${kind.old ? 'SMEP' : 'SMEP AVX2'};; *) echo 0;; esac`)
  m.fake('grep', `case $* in *cpuinfo) exit ${kind.old ? 1 : 0};; esac; exec /bin/grep "$@"`)
}

test.each([
  [{ system: 'Linux', processor: 'x86_64' }, 'linux-x64'],
  [{ system: 'Linux', processor: 'x86_64', old: true }, 'linux-x64-baseline'],
  [{ system: 'Linux', processor: 'x86_64', musl: true }, 'linux-x64-musl'],
  [{ system: 'Linux', processor: 'amd64', musl: true, old: true }, 'linux-x64-musl'],
  [{ system: 'Linux', processor: 'aarch64' }, 'linux-arm64'],
  [{ system: 'Linux', processor: 'aarch64', musl: true }, 'linux-arm64-musl'],
  [{ system: 'Darwin', processor: 'arm64' }, 'darwin-arm64'],
  [{ system: 'Darwin', processor: 'x86_64' }, 'darwin-x64'],
  [{ system: 'Darwin', processor: 'x86_64', old: true }, 'darwin-x64'],
])('%j gets %s', async (kind, target) => {
  using m = makeMachine()
  pretend(m, kind)
  const done = await must(m.install(['--git-url', 'U R L', '--release', makeRelease(m, all)]))
  expect(done.stdout).toBe(`${m.home} got ${target}: install --git-url U R L\n`)
})

test('an x86-64 machine takes the baseline program where there is no other, and a translated shell the one for arm64', async () => {
  using m = makeMachine()
  pretend(m, { system: 'Linux', processor: 'x86_64' })
  const only = makeRelease(m, ['linux-x64-baseline', 'darwin-arm64'])
  expect((await must(m.install(['--git-url', 'x', '--release', only]))).stdout).toContain(
    'linux-x64-baseline',
  )
  pretend(m, { system: 'Darwin', processor: 'x86_64' })
  m.fake('sysctl', 'echo 1')
  expect((await must(m.install(['--git-url', 'x', '--release', only]))).stdout).toContain('darwin-arm64')
})

describe('a release that will not do is refused before anything of it runs:', () => {
  test.each<[string, (folder: string) => void, string]>([
    [
      'an archive that was changed',
      (folder) => writeFileSync(join(folder, 'automaton-linux-x64.tar.gz'), 'other bytes'),
      'wrong checksum (automaton-linux-x64.tar.gz)',
    ],
    [
      'a program for other machines only',
      (folder) =>
        writeFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  automaton-darwin-arm64.tar.gz\n`),
      'no program for this machine',
    ],
    [
      'an archive that is listed and not there',
      (folder) =>
        writeFileSync(join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  automaton-linux-x64-baseline.tar.gz\n`),
      'cannot read',
    ],
  ])('%s', async (_what, spoil, says) => {
    using m = makeMachine()
    pretend(m, { system: 'Linux', processor: 'x86_64' })
    const folder = makeRelease(m, ['linux-x64'])
    spoil(folder)
    const done = await m.install(['--git-url', 'x', '--release', folder])
    expect(done).toMatchObject({ code: 5, stdout: '' })
    expect(done.stderr).toContain(says)
    expect(done.stderr).toMatch(/^ {2}fix: \S/m)
    expect(existsSync(m.home)).toBe(false)
    expect(readdirSync(join(m.dir, 'tmp'))).toEqual([])
  })

  test('an address without encryption, a processor that nobody builds for, an option that there is not', async () => {
    using m = makeMachine()
    const folder = makeRelease(m, ['linux-x64'])
    const plain = await m.install(['--git-url', 'x', '--release', 'http://example.test/automaton'])
    expect(plain).toMatchObject({ code: 2, stderr: expect.stringContaining('address refused') })
    pretend(m, { system: 'Linux', processor: 'riscv64' })
    const other = await m.install(['--git-url', 'x', '--release', folder])
    expect(other.code).toBe(5)
    expect(other.stderr).toMatch(/^install\.sh: unknown processor \(riscv64\): .*\n {2}fix: .*\n$/)
    const option = await m.install(['--git-url', 'x', '--gitt'])
    expect(option).toMatchObject({ code: 2, stderr: expect.stringContaining('unknown option (--gitt)') })
    expect(await m.install(['--git-url'])).toMatchObject({ code: 2 })
  })
})

test('a release comes from an address too, by curl or wget, and one that is not there is an error', async () => {
  using m = makeMachine()
  pretend(m, { system: 'Linux', processor: 'x86_64' })
  const folder = makeRelease(m, ['linux-x64'])
  using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => {
      const file = Bun.file(join(folder, decodeURIComponent(new URL(url).pathname).replace('/v1/', '')))
      return file.size > 0 && url.includes('/v1/') ? new Response(file) : new Response('no', { status: 404 })
    },
  })
  const address = `http://127.0.0.1:${server.port}`
  const done = await must(m.install(['--git-url', 'x'], { AUTOMATON_RELEASE: `${address}/v1/` }))
  expect(done.stdout).toContain('got linux-x64')
  const gone = await m.install(['--git-url', 'x', '--release', `${address}/v2`])
  expect(gone).toMatchObject({ code: 5, stderr: expect.stringContaining('download failed') })
})

tool('TEST_RELEASE').test(
  'a whole release, as it is made, installs on this machine by the script in it',
  async () => {
    using m = makeMachine()
    const made = tool('TEST_RELEASE').path()
    for (const name of [
      'SHA256SUMS',
      'install.sh',
      'automaton-linux-x64.tar.gz',
      'automaton-linux-arm64.tar.gz',
    ]) {
      if (existsSync(join(made, name))) copyFileSync(join(made, name), join(m.downloads, name))
    }
    const done = await must(m.install(['--git-url', m.remote('empty.git')]))
    expect(done.stdout).toContain(`is in ${m.home}`)
    expect((await must(m.call('--version'))).stdout).toMatch(/^automaton \d+\.\d+\.\d+\n$/)
    expect(existsSync(join(m.home, '.automaton/loops/self-improvement/loop.json'))).toBe(true)
  },
  60_000,
)

test('beside a release the script needs no more than the git URL; beside nothing it says what it needs', async () => {
  using m = makeMachine()
  const lost = await m.install(['--git-url', 'x'])
  expect(lost).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing to install') })
  pretend(m, { system: 'Linux', processor: 'x86_64' })
  makeRelease(m, ['linux-x64'], m.downloads)
  expect((await must(m.install(['--git-url=x', '--home', 'my home']))).stdout).toBe(
    `${m.user}/my home got linux-x64: install --git-url x\n`,
  )
})

test('from a checkout it builds first, and a build that fails is said', async () => {
  using m = makeMachine()
  writeFileSync(join(m.downloads, 'build.ts'), '')
  m.fake(
    'npm',
    `echo "npm $*"; mkdir -p dist && printf '%s' '${program('built')}' >dist/automaton && chmod +x dist/automaton`,
  )
  const done = await must(m.install(['--git-url', 'x', '--from-source']))
  expect(done.stdout).toBe(`${m.home} got built: install --git-url x\n`)
  expect(done.stderr).toContain('npm run --silent build')
  m.fake('npm', 'exit 1')
  const failed = await m.install(['--git-url', 'x'])
  expect(failed).toMatchObject({ code: 5, stderr: expect.stringContaining('build failed') })
})

needs('shellcheck')(
  'install.sh has nothing that shellcheck complains of',
  async () => {
    const run = Bun.spawnSync(['shellcheck', '--shell=sh', join(root, 'install.sh')])
    expect(run.stdout.toString()).toBe('')
    expect(run.exitCode).toBe(0)
  },
  30_000,
)

test('install.ps1 has nothing that Windows PowerShell 5.1 does not know, and reads as ASCII', () => {
  const text = readFileSync(join(root, 'install.ps1'), 'utf8')
  expect(text).toMatch(/^[\n\x20-\x7e]*$/)
  expect(text).not.toMatch(/\?\?|&&|\|\||\?\.|-Parallel/)
  for (const [open = '', close = ''] of ['{}', '()']) {
    expect(text.split(open).length).toBe(text.split(close).length)
  }
  // Both scripts refuse with the same words.
  const words = 'without a repository of yours, what automaton changes in its own files could not be undone'
  for (const script of [text, readFileSync(join(root, 'install.sh'), 'utf8')]) expect(script).toContain(words)
})

const pwsh = Bun.which('pwsh')
const reason = pwsh ? '' : ' (skipped: no pwsh, which neither apt nor npm has)'
test.skipIf(!pwsh)(`install.ps1 can be parsed${reason}`, () => {
  const check = `$e = $null; [void][Management.Automation.Language.Parser]::ParseFile('${join(root, 'install.ps1')}', [ref]$null, [ref]$e); $e; exit $e.Count`
  expect(Bun.spawnSync(['pwsh', '-NoProfile', '-Command', check]).exitCode).toBe(0)
})
