import { afterAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AutomatonError } from '../../src/errors.ts'
import { type ExecOptions, exec } from '../../src/system/exec.ts'
import { maskSecrets } from '../../src/system/hygiene.ts'
import { isAlive, type ProcessIdentity } from '../../src/system/process.ts'
import { needs } from '../crash/needs.ts'
import { writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' }
const dir = tempDir()
afterAll(() => dir[Symbol.dispose]())

const run = (argv: string[], options: Partial<ExecOptions> = {}) =>
  exec({ argv, cwd: dir.path, env, ...options })
const sh = (script: string, options: Partial<ExecOptions> = {}) => run(['sh', '-c', script], options)

async function refusal(promise: Promise<unknown>): Promise<AutomatonError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof AutomatonError) return error
    throw error
  }
  throw new Error('it did not throw')
}

describe('a program that ends by itself', () => {
  test('its exit code and both streams are returned', async () => {
    const result = await sh('echo out; echo err >&2; exit 3')
    expect(result).toMatchObject({
      exitCode: 3,
      signal: null,
      ended: 'exit',
      stdout: 'out\n',
      stderr: 'err\n',
    })
    expect(result.survivors).toBe(0)
    expect(result.seconds).toBeGreaterThan(0)
  })

  test('a signal that ended it is named and there is no exit code', async () => {
    expect(await sh('kill -9 $$')).toMatchObject({ exitCode: null, signal: 'SIGKILL', ended: 'exit' })
  })

  test('arguments reach it without a shell', async () => {
    const argument = `$(touch x) 'a' "b" \n *`
    expect((await run(['printf', '%s', argument])).stdout).toBe(argument)
  })

  test('its standard streams can be opened by name, as scripts do', async () => {
    const result = await sh('echo one > /dev/stdout; echo two > /dev/stderr')
    expect(result).toMatchObject({ stdout: 'one\n', stderr: 'two\n', exitCode: 0 })
  })

  test('it leads a session of its own and sees only the given environment', async () => {
    const result = await sh('ps -o pid=,pgid=,sid= -p $$; env', { env: { ...env, ONLY: 'this' } })
    const [ids = '', ...variables] = result.stdout.trim().split('\n')
    expect(new Set(ids.trim().split(/\s+/)).size).toBe(1)
    expect(variables.filter((line) => !/^(PATH|PWD|OLDPWD|SHLVL|_)=/.test(line))).toEqual(['ONLY=this'])
  })

  test('no file of this process is open in it', async () => {
    const result = await sh('for f in /proc/self/fd/*; do [ -e "$f" ] && basename "$f"; done')
    expect(
      result.stdout
        .trim()
        .split('\n')
        .filter((fd) => Number(fd) > 2 && Number(fd) < 10),
    ).toEqual([])
  })

  test('its identity is announced before the result', async () => {
    let who: (ProcessIdentity & { group: number }) | undefined
    let alive = false
    const result = await run(['sleep', '0.2'], {
      onSpawn: async (spawned) => {
        who = spawned
        alive = isAlive(spawned)
        await Bun.sleep(1)
      },
    })
    expect(result.exitCode).toBe(0)
    expect(alive).toBe(true)
    expect(who?.group).toBe(who?.pid as number)
    expect(who && isAlive(who)).toBe(false)
  })
})

describe('standard input', () => {
  test('five megabytes arrive whole', async () => {
    expect((await run(['wc', '-c'], { stdin: 'é'.repeat(2_500_000) })).stdout.trim()).toBe('5000000')
  })

  test('absent or empty, it is at its end at once', async () => {
    expect((await run(['wc', '-c'])).stdout.trim()).toBe('0')
    expect((await run(['wc', '-c'], { stdin: '' })).stdout.trim()).toBe('0')
  })

  test('a program that never reads it, closes it, or exits early is no trouble', async () => {
    const stdin = 'x'.repeat(5_000_000)
    expect((await run(['true'], { stdin })).exitCode).toBe(0)
    expect((await sh('exec <&-; sleep 0.1; exit 4', { stdin })).exitCode).toBe(4)
    expect((await sh('head -c 10', { stdin })).stdout).toBe('xxxxxxxxxx')
  })
})

describe('output', () => {
  test('lines come one by one, without their ends, the last one even without an end', async () => {
    const lines: string[] = []
    await sh(`printf 'a\\r\\n\\nb'; sleep 0.05; printf 'c\\nlast'`, { onLine: (line) => lines.push(line) })
    expect(lines).toEqual(['a', '', 'bc', 'last'])
  })

  test('a line over 1 MiB arrives cut, and the next one whole', async () => {
    const lines: string[] = []
    await sh(`head -c 3000000 /dev/zero | tr '\\0' x; echo; echo next`, {
      onLine: (line) => lines.push(line),
    })
    expect(lines.map((line) => line.length)).toEqual([1024 * 1024, 4])
  })

  test('binary and invalid UTF-8 do no harm', async () => {
    const lines: string[] = []
    const result = await sh(`printf 'a\\377\\000b\\n\\303\\251\\n'`, { onLine: (line) => lines.push(line) })
    expect(lines).toEqual(['a\ufffd\0b', 'é'])
    expect(result.stdout).toBe('a\ufffd\0b\né\n')
  })

  test('of a long stream the beginning and the end are kept, and the gap is named', async () => {
    const { stdout } = await sh('echo begin; yes | head -c 5000000; echo end')
    expect(stdout.startsWith('begin\ny\n')).toBe(true)
    expect(stdout.endsWith('y\nend\n')).toBe(true)
    expect(stdout).toContain(`[automaton: ${5_000_010 - 1024 * 1024} bytes cut here]`)
    expect(stdout.length).toBeLessThan(1024 * 1024 + 100)
  })

  test('the log holds both streams in order of arrival, masked, for the user alone', async () => {
    const logFile = join(dir.path, 'both.log')
    writeFileSync(logFile, 'from an earlier run\n')
    const mask = maskSecrets({ API_TOKEN: 'correct-horse-battery' })
    const script = `echo one; sleep 0.05; echo two >&2; sleep 0.05; printf 'correct-horse-'; sleep 0.05; echo battery`
    const result = await sh(script, { logFile, mask })
    expect(readFileSync(logFile, 'utf8')).toBe('one\ntwo\n[masked:API_TOKEN]\n')
    expect(result.stdout).toContain('correct-horse-battery')
  })

  needs('node')(
    'what a program leaves unwritten at its exit is not lost while nobody reads',
    async () => {
      // Node quits at once, whatever its pipe has not taken yet.
      const script = `console.log('ready'); console.log('x'.repeat(600000)); console.log('the end'); process.exit()`
      let pid = 0
      const { stdout } = await run(['node', '-e', script], {
        onSpawn: (who) => {
          pid = who.pid
        },
        onLine(line) {
          while (line === 'ready' && !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) Bun.sleepSync(5)
        },
      })
      expect(stdout.slice(-9)).toBe('\nthe end\n')
    },
    20_000,
  )

  test('a new log is private and a symlink in its place is refused before anything starts', async () => {
    const logFile = join(dir.path, 'new.log')
    await run(['true'], { logFile })
    expect(statSync(logFile).mode & 0o777).toBe(0o600)
    symlinkSync(join(dir.path, 'elsewhere'), join(dir.path, 'link.log'))
    const error = await refusal(run(['touch', 'started'], { logFile: join(dir.path, 'link.log') }))
    expect(error.code).toBe('write_failed')
    expect(readdirSync(dir.path)).not.toContain('started')
  })

  test('the log of a flood keeps 4 MiB of its beginning and 1 MiB of its end', async () => {
    const logFile = join(dir.path, 'flood.log')
    await sh('echo begin; seq 1 3000000; echo end', { logFile })
    const text = readFileSync(logFile, 'utf8')
    expect(text.startsWith('begin\n1\n2\n')).toBe(true)
    expect(text.endsWith('2999999\n3000000\nend\n')).toBe(true)
    expect(text.length).toBeGreaterThan(4.5 * 1024 * 1024)
    expect(text.length).toBeLessThan(5 * 1024 * 1024 + 100)
    const cut = Number(/^\[automaton: (\d+) bytes cut here\]$/m.exec(text)?.[1])
    const mark = `[automaton: ${cut} bytes cut here]\n`.length
    expect(text.length - mark + cut).toBe(22_888_896 + 'begin\nend\n'.length)
  })

  test('a secret across the cut of an endless line is not half shown', async () => {
    const logFile = join(dir.path, 'line.log')
    const mask = maskSecrets({ API_TOKEN: 'correct-horse-battery' })
    await sh(
      `head -c 1048566 /dev/zero | tr '\\0' x; printf 'correct-horse-battery'; head -c 99999 /dev/zero`,
      {
        logFile,
        mask,
      },
    )
    const text = readFileSync(logFile, 'utf8')
    expect(text).not.toContain('correct')
    expect(text).toMatch(/^x{1000000,} \[automaton: \d+ bytes cut here\]\n$/)
  })

  test.each([
    ['300 MB in lines', 'yes 0123456789012345678901234567890123456789 | head -c 300000000'],
    ['one line of 300 MB', 'head -c 300000000 /dev/zero'],
  ])(
    '%s need little memory',
    async (_, script) => {
      const file = join(dir.path, 'memory.ts')
      writeFileSync(
        file,
        `import { readFileSync } from 'node:fs'
       import { exec } from '${join(import.meta.dir, '../../src/system/exec.ts')}'
       let lines = 0
       const r = await exec({ argv: ['sh', '-c', ${JSON.stringify(script)}], cwd: '/', env: process.env,
         logFile: '${join(dir.path, 'memory.log')}', onLine: () => { lines++ } })
       console.log(JSON.stringify({ code: r.exitCode, lines, peak: peakKiB() }))
       // The peak that getrusage gives would be the parent's, when that was larger at the fork.
       function peakKiB() {
         return process.platform === 'linux'
           ? Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1])
           : process.resourceUsage().maxRSS / 1024
       }`,
      )
      const child = Bun.spawnSync([process.execPath, file], { env, stderr: 'inherit' })
      const { code, lines, peak } = JSON.parse(child.stdout.toString())
      expect(code).toBe(0)
      expect(lines).toBeGreaterThan(0)
      // In KiB.
      expect(peak).toBeLessThan(200 * 1024)
    },
    30_000,
  )
})

describe('a program that cannot start', () => {
  test('a missing one names PATH', async () => {
    const error = await refusal(run(['no-such-agent'], { env: { PATH: '/nowhere:/usr/bin' } }))
    expect(error.exit).toBe(5)
    expect(error.message).toBe(
      'command not found (no-such-agent): it is in no folder of PATH=/nowhere:/usr/bin',
    )
  })

  test('a missing folder is named, not the program', async () => {
    const error = await refusal(run(['true'], { cwd: join(dir.path, 'gone') }))
    expect(error.message).toBe(`folder is missing (${join(dir.path, 'gone')}): true was to run in it`)
  })

  test('a file that cannot run says why', async () => {
    writeFiles(dir.path, {
      'no-bit': 'echo hi\n',
      'bad-interpreter': '#!/no/such/shell\n',
      'no-shebang': '#!',
    })
    writeFileSync(join(dir.path, 'no-shebang'), 'echo hi\n')
    const why = async (program: string) => (await refusal(run([program]))).message
    expect(await why('./no-bit')).toBe(`cannot run (${join(dir.path, 'no-bit')}): it is not executable`)
    expect(await why('./missing')).toBe(`cannot run (${join(dir.path, 'missing')}): there is no such file`)
    expect(await why(dir.path)).toBe(`cannot run (${dir.path}): it is a folder`)
    expect(await why('./no-shebang')).toContain('nor a script with a #! line')
    expect(await why('./bad-interpreter')).toContain('the interpreter in its first line does not exist')
  })

  test('a program in the working folder is not found by a relative folder of PATH', async () => {
    writeFiles(dir.path, { git: '#!/bin/sh\necho planted\n' })
    for (const path of ['.', '', ':', './', '..']) {
      expect((await refusal(run(['git'], { env: { PATH: path } }))).code).toBe('command_not_found')
    }
    expect((await run(['./git'])).stdout).toBe('planted\n')
  })

  test('arguments that no program can get are refused', async () => {
    expect((await refusal(run(['echo', 'a\0b']))).message).toContain('"a\\u0000b" holds a NUL character')
    expect((await refusal(run(['echo'], { env: { ...env, A: 'a\0b' } }))).exit).toBe(2)
    expect((await refusal(run([]))).exit).toBe(2)
    const long = await refusal(run(['echo', 'x'.repeat(200_000)]))
    expect(long.message).toContain('too long')
    expect(long.fix).toBe('pass long text on standard input or in a file')
  })

  test('nothing stays open after it', async () => {
    writeFiles(dir.path, { 'bad-again': '#!/no/such/shell\n' })
    const files = () => readdirSync('/proc/self/fd').length
    await refusal(run(['./bad-again'], { logFile: join(dir.path, 'bad.log') }))
    const before = files()
    for (let i = 0; i < 20; i++) await refusal(run(['./bad-again'], { logFile: join(dir.path, 'bad.log') }))
    expect(files()).toBe(before)
  })
})
