import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptEnv } from '../../src/runner/script-env.ts'
import { cmdScript, readShellScript, shellScript, type TickScript } from '../../src/runner/tick-script.ts'
import { tempDir } from '../helpers/temp.ts'

const script = (change: Partial<TickScript> = {}): TickScript => ({
  loop: 'nightly',
  project: '/home/pat/my repo',
  self: ['/opt/automaton'],
  env: { HOME: '/home/pat', PATH: '/usr/bin:/bin' },
  passed: [],
  log: '/home/pat/my repo/scheduled.log',
  ...change,
})

const odd = [
  'plain',
  'with space',
  "it's",
  '"double"',
  '$HOME $(touch x) `id`',
  'a;b&c|d<e>f(g)h{i}j',
  '*?[a]~!#%^',
  'back\\slash\\',
  'ümlaut 日本',
  '-n',
]

/** A script whose program writes down what it was given, in folders of odd names. */
function runOdd(dir: string, name: string, env: Record<string, string> = {}) {
  const folder = join(dir, name)
  mkdirSync(folder, { recursive: true })
  const program = join(folder, 'automaton')
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" >"$OUT"\nenv >>"$OUT"\n`)
  chmodSync(program, 0o755)
  const out = join(folder, 'out')
  const wanted = script({
    project: folder,
    self: [program],
    env: { HOME: folder, PATH: '/usr/bin:/bin', OUT: out, ...env },
    log: join(folder, 'scheduled.log'),
  })
  const file = join(folder, 'tick.sh')
  writeFileSync(file, shellScript(wanted))
  const run = Bun.spawnSync(['/bin/sh', file], { env: { PATH: '/usr/bin:/bin', LEAK: 'x' }, stderr: 'pipe' })
  return { run, wanted, folder, program, out }
}

describe('the script for /bin/sh', () => {
  test('has three lines, and is read again as it was written', () => {
    const text = shellScript(script({ self: ['/opt/bun', '/src/main.ts'], passed: ['KEY'] }))
    expect(text.split('\n')).toHaveLength(4)
    expect(readShellScript(text)).toEqual({
      self: ['/opt/bun', '/src/main.ts'],
      env: { HOME: '/home/pat', PATH: '/usr/bin:/bin' },
      loop: 'nightly',
      project: '/home/pat/my repo',
    })
  })

  test.each(odd)('calls its program in a folder named %p with its own environment and no other', (name) => {
    using dir = tempDir()
    const { run, wanted, folder, out } = runOdd(dir.path, name, { VALUE: name })
    expect([run.exitCode, run.stdout.toString(), run.stderr.toString()]).toEqual([0, '', ''])
    const lines = readFileSync(out, 'utf8').trimEnd().split('\n')
    expect(lines.slice(0, 5)).toEqual(['tick', 'nightly', '--scheduled', '--project', folder])
    const env = Object.fromEntries(lines.slice(5).map((line) => line.split(/=(.*)/s)))
    expect(env).toMatchObject(wanted.env)
    expect(env.LEAK).toBeUndefined()
    expect(readShellScript(shellScript(wanted))).toEqual({
      self: wanted.self,
      env: wanted.env,
      loop: 'nightly',
      project: folder,
    })
  })

  test.each(odd)('notes in a folder named %p that its program is gone, once, and prints nothing', (name) => {
    using dir = tempDir()
    const { wanted, folder } = runOdd(dir.path, name)
    const gone = script({ ...wanted, self: [join(folder, 'elsewhere')] })
    const file = join(folder, 'tick.sh')
    writeFileSync(file, shellScript(gone))
    for (let i = 0; i < 2; i++) {
      const run = Bun.spawnSync(['/bin/sh', file], { env: { PATH: '/usr/bin:/bin' }, stderr: 'pipe' })
      expect([run.exitCode, run.stdout.toString(), run.stderr.toString()]).toEqual([127, '', ''])
    }
    expect(readFileSync(gone.log, 'utf8')).toMatch(/^\d{4}-\S+Z the program is no longer at [^\n]+\n$/)
    expect(existsSync('x')).toBe(false)
  })

  test.each([
    '',
    '#!/bin/sh\necho hi\n',
    '#!/bin/sh\n\nexec /usr/bin/env -i HOME=/x $(touch y) /opt/automaton tick nightly --scheduled --project /p\n',
    '#!/bin/sh\n\nexec /usr/bin/env -i HOME=/x\n',
  ])('%p is not one of automaton’s', (text) => {
    expect(readShellScript(text)).toBeNull()
  })

  test('lets variables through that have a name and load no code', () => {
    const text = shellScript(
      script({ passed: ['KEY', 'a b', 'X;y', 'GIT_DIR', 'AUTOMATON_HOME', 'PATH', 'node_options'] }),
    )
    expect(text.match(/\$\{[^}]*\}/g)?.map((part) => part.slice(2))).toEqual(['KEY+"KEY=$KEY"}'])
  })
})

describe('the script for cmd.exe', () => {
  test('clears what loads code, doubles what would be replaced, and keeps paths whole', () => {
    const text = cmdScript(
      script({
        project: 'C:\\100% mine\\',
        self: ['C:\\Program Files\\automaton.exe'],
        env: { PATH: 'C:\\a & b;D:\\%x%' },
      }),
    )
    const lines = text.split('\r\n')
    expect(lines).toHaveLength(5)
    expect(lines[1]).toStartWith('@if not exist "C:\\Program Files\\automaton.exe" (')
    expect(lines[2]).toBe('@if not exist "C:\\Program Files\\automaton.exe" exit /b 127')
    expect(lines[3]).toContain('set "BUN_OPTIONS=" & ')
    expect(lines[3]).toContain('set "PATH=C:\\a & b;D:\\%%x%%" & ')
    expect(lines[3]).toEndWith(
      '"C:\\Program Files\\automaton.exe" tick nightly --scheduled --project "C:\\100%% mine\\\\"',
    )
  })
})

describe('the environment of scheduled ticks', () => {
  const from = (env: Record<string, string>, isTheirs = (_: string) => false) =>
    scriptEnv({ env, home: '/home/pat', isTheirs, isWindows: false })

  test('has what agents need to be found, and no secret', () => {
    const { env } = from({
      PATH: '/a:/b',
      LANG: 'C.UTF-8',
      ANTHROPIC_API_KEY: 'sk-secret',
      SSH_AUTH_SOCK: '/tmp/x',
      https_proxy: 'http://proxy:3128',
      HTTP_PROXY: 'http://pat:secret@proxy:3128',
      XDG_CONFIG_HOME: '/home/pat/cfg',
      BUN_OPTIONS: '--preload x',
      LC_ALL: 'two\nlines',
      USER: '',
    })
    expect(env).toEqual({
      HOME: '/home/pat',
      PATH: '/a:/b',
      LANG: 'C.UTF-8',
      XDG_CONFIG_HOME: '/home/pat/cfg',
      https_proxy: 'http://proxy:3128',
    })
    const mixed = from({ LANG: 'C', HOME: '/x', https_proxy: 'p' }).env
    expect(JSON.stringify(from({ https_proxy: 'p', LANG: 'C' }).env)).toBe(JSON.stringify(mixed))
  })

  test('has the absolute folders of PATH, each once, and none that sessions may write', () => {
    const { env, dropped } = from({ PATH: '/a::.:bin:/b:/a:/p/node_modules/.bin' }, (folder) =>
      folder.startsWith('/p/'),
    )
    expect(env.PATH).toBe('/a:/b')
    expect(dropped).toEqual(['/p/node_modules/.bin'])
    expect(from({ PATH: '' }).env.PATH).toBe('/usr/local/bin:/usr/bin:/bin')
  })

  test('reads PATH as Windows has it', () => {
    const input = { env: { Path: 'C:\\a;"C:\\b";rel;D:\\c' }, home: 'C:\\Users\\pat', isTheirs: () => false }
    expect(scriptEnv({ ...input, isWindows: true }).env.PATH).toBe('C:\\a;D:\\c')
  })
})
