import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endAdopted } from '../../src/system/adopted.ts'
import { exec } from '../../src/system/exec.ts'
import { subreaper } from '../../src/system/native.ts'
import { processRow } from '../../src/system/process-table.ts'
import { needs } from '../crash/needs.ts'
import { tempDir } from '../helpers/temp.ts'

const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' }
const dir = tempDir()
beforeAll(() => void subreaper())
afterAll(() => dir[Symbol.dispose]())

const run = (...argv: string[]) => exec({ argv, cwd: dir.path, env })

describe.skipIf(process.platform !== 'linux')('what a program leaves to this process', () => {
  needs('perl')(
    'is ended, also where each process of it hands on to the next one and ends before anybody looks',
    async () => {
      const beat = join(dir.path, 'beat')
      const code = `use POSIX; my ($end, $n) = (time + 10, 0); exit 0 if fork;
        while (time < $end) { POSIX::_exit(0) if fork; POSIX::setsid();
          if (++$n % 10 == 0) { open F, ">", $ARGV[0]; print F $n; close F } }`
      for (let i = 0; i < 5; i++) {
        const start = '"$0" -e "$1" "$2"; until test -e "$2"; do sleep 0.01; done'
        const result = await run('sh', '-c', start, 'perl', code, beat)
        expect(result).toMatchObject({ exitCode: 0, lives: false })
        const last = readFileSync(beat, 'utf8')
        await Bun.sleep(30)
        expect(readFileSync(beat, 'utf8')).toBe(last)
      }
    },
    30_000,
  )

  test('is ended where its first thread is over and another one goes on', async () => {
    const here = join(dir.path, 'threads')
    const file = join(dir.path, 'half-dead.ts')
    writeFileSync(
      file,
      `import { dlopen } from 'bun:ffi'
       import { readFileSync, writeFileSync } from 'node:fs'
       const libc = readFileSync('/proc/self/maps', 'utf8').match(/\\\\s(\\\\/\\\\S*\\\\/(?:libc\\\\.so\\\\.6|libc-[\\\\d.]+\\\\.so|(?:ld|libc)[-.]musl-\\\\w+\\\\.so\\\\.1))$/m)[1]
       const { syscall } = dlopen(libc, { syscall: { args: ['i64', 'i64'], returns: 'i64' } }).symbols
       new Worker('data:text/javascript,setInterval(() => {}, 10)')
       await Bun.sleep(200)
       writeFileSync('${here}', String(process.pid))
       syscall(process.arch === 'arm64' ? 93 : 60, 0)`.replaceAll('\\\\', '\\'),
    )
    const start = `setsid "$0" "$1" >/dev/null 2>&1 & until test -e ${here}; do sleep 0.01; done; sleep 0.1`
    const result = await run('sh', '-c', start, process.execPath, file)
    expect(result).toMatchObject({ exitCode: 0, lives: false, survivors: 1 })
    expect(existsSync(here)).toBe(true)
    expect(processRow(Number(readFileSync(here, 'utf8')))).toBeNull()
  })

  test('is not said to be over while more keeps coming', async () => {
    const isOurs = () => true
    const isAlone = () => Bun.spawnSync(['sh', '-c', 'setsid -f true'], { env }).success
    const begun = performance.now()
    const { ended } = await endAdopted({ isOurs, isAlone })
    expect(ended).toBe(false)
    expect(performance.now() - begun).toBeWithin(1900, 4000)
    expect(await endAdopted({ isOurs, isAlone: () => true })).toMatchObject({ ended: true })
  })

  test('costs a program that leaves nothing a few milliseconds', async () => {
    const begun = performance.now()
    const found = await endAdopted({ isOurs: () => true, isAlone: () => true })
    expect(found).toEqual({ ended: true, killed: [] })
    expect(performance.now() - begun).toBeLessThan(50)
  })
})
