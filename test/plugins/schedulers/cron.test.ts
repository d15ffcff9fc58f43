import { describe, expect, test } from 'bun:test'
import cron from '../../../plugins/schedulers/cron.ts'
import type { Unit } from '../../../src/api/scheduler.ts'
import { createHost } from '../../../src/plugin/host.ts'
import { type CronFaults, type CronMachine, cronMachine } from './cron-machine.ts'

const unit: Unit = { loop: 'nightly', project: '/p', script: '/p/l/tick.sh', intervalSeconds: 3600 }
const others = 'MAILTO=me\r\n0 5 * * * backup \xff\n@reboot serve'
const scheduler = createHost({ builtins: [cron], log() {} }).scheduler('cron')
const mine = /^0 \* \* \* \* \/p\/l\/tick\.sh # automaton-loop:nightly:[0-9a-f]{8}$/

async function failure(run: Promise<unknown>): Promise<string> {
  return run.then(
    () => 'it did not fail',
    (error: unknown) => String(error),
  )
}

/** Tries to install on a machine with faults, and tells what became of the table. */
async function installOn(machine: CronMachine): Promise<string> {
  return failure((await scheduler).install(unit, machine.context))
}

describe('cron', () => {
  test('adds a line, and takes it away without a trace', async () => {
    const machine = cronMachine(others)
    await (await scheduler).install(unit, machine.context)
    const [line, ...rest] = machine.table?.split('\n') ?? []
    expect(line).toMatch(mine)
    expect(rest.join('\n')).toBe(others)
    await (await scheduler).remove(unit, machine.context)
    expect(machine.table).toBe(others)
  })

  test('makes a table for a person who had none, and removes it with its last line', async () => {
    const machine = cronMachine()
    await (await scheduler).enable(unit, machine.context)
    expect(machine.table?.trimEnd()).toMatch(mine)
    await (await scheduler).disable(unit, machine.context)
    expect(machine.table).toBeNull()
  })

  test('writes nothing when there is nothing to change', async () => {
    const machine = cronMachine(others)
    await (await scheduler).install(unit, machine.context)
    machine.calls.length = 0
    await (await scheduler).install(unit, machine.context)
    expect(machine.calls).toEqual(['crontab -l'])
  })

  test('keeps the old table beside the script, and the one before it when other people’s lines changed', async () => {
    const machine = cronMachine(others)
    const { context } = machine
    machine.files.set(unit.script, '')
    await (await scheduler).install(unit, context)
    expect(machine.files.get('/p/l/crontab.backup')).toBe(others)
    await (await scheduler).disable(unit, context)
    expect(machine.files.has('/p/l/crontab.backup.old')).toBe(false)
    machine.table = 'new\n'
    await (await scheduler).enable(unit, context)
    expect(machine.files.get('/p/l/crontab.backup')).toBe('new\n')
    expect(machine.files.get('/p/l/crontab.backup.old')).toContain(others)
  })

  const unreadable: [string, ReturnType<NonNullable<CronFaults['list']>>, string][] = [
    ['fails', { exitCode: 1, output: 'crontab: cannot open spool\n' }, 'exited with 1: crontab: cannot open'],
    ['fails without a word', { exitCode: 1 }, 'exited with 1: it said nothing'],
    ['prints nothing', {}, 'crontab -l printed nothing'],
    [
      'prints a part and fails',
      { exitCode: 1, stdout: 'a\n', output: 'a\nno crontab for pat' },
      'exited with 1',
    ],
    ['does not end', { exitCode: null, timedOut: true }, 'crontab -l did not end'],
    ['prints more than is read', { stdout: 'x'.repeat((1 << 20) + 1) }, 'it has over 1 MiB'],
  ]
  test.each(unreadable)('a crontab -l that %s is not written over', async (_, answer, why) => {
    const machine = cronMachine(others, { list: () => answer })
    const said = await installOn(machine)
    expect(said).toContain('could not be read, and was left as it is')
    expect(said).toContain(why)
    expect(machine.table).toBe(others)
    expect(machine.calls.filter((call) => call !== 'crontab -l')).toEqual([])
  })

  test.each([
    'no crontab for pat\n',
    'crontab: no crontab for pat\n',
    "crontab: can't open 'pat': No such file or directory\n",
  ])('a person without a table: %p', async (output) => {
    const machine = cronMachine(null, { list: (table) => (table === null ? { exitCode: 1, output } : null) })
    expect(await installOn(machine)).toBe('it did not fail')
  })

  test('a table that is refused stays as it is', async () => {
    const machine = cronMachine(others, {
      install: { exitCode: 1, output: '"-":1: bad minute\n' },
      keep: () => others,
    })
    expect(await installOn(machine)).toContain(
      'refused the table: "-":1: bad minute; the crontab is as it was',
    )
    expect(machine.table).toBe(others)
  })

  test('a crontab that says yes and keeps nothing is not believed', async () => {
    const machine = cronMachine(others, { keep: () => others })
    expect(await installOn(machine)).toContain('took the table and did not keep it; the crontab is as it was')
  })

  const lossy: [string, (table: string, count: number) => string | null][] = [
    ['loses the end', (table, count) => (count === 0 ? table.slice(0, 80) : table)],
    ['loses everything', (table, count) => (count === 0 ? null : table)],
    ['changes line ends', (table, count) => (count === 0 ? table.replaceAll('\r\n', '\n') : table)],
  ]
  test.each(lossy)('a crontab that %s gets the old table back', async (_, keep) => {
    const machine = cronMachine(others, { keep })
    expect(await installOn(machine)).toContain('the old table is back')
    expect(machine.table).toBe(others)
  })

  test('where it cannot be put back, the error names the file that has it', async () => {
    const machine = cronMachine(others, { keep: () => 'garbage\n' })
    machine.files.set(unit.script, '')
    expect(await installOn(machine)).toContain('crontab /p/l/crontab.backup installs it')
    expect(machine.files.get('/p/l/crontab.backup')).toBe(others)
    const bare = cronMachine(others, { keep: () => 'garbage\n' })
    const file = '/home/pat/crontab.backup-by-automaton'
    expect(await installOn(bare)).toContain(`crontab ${file} installs it`)
    expect(bare.files.get(file)).toBe(others)
  })

  test('makes no folder again for the backup where the script is gone, and leaves none', async () => {
    const machine = cronMachine(others)
    await (await scheduler).install(unit, machine.context)
    await (await scheduler).remove(unit, machine.context)
    expect([machine.table, [...machine.files.keys()]]).toEqual([others, []])
  })

  test('what another program writes meanwhile is kept, before our write and after it', async () => {
    const before = cronMachine('a\n', {
      list(table, count) {
        if (count === 1) before.table = `${table}b\n`
        return null
      },
    })
    before.table = 'a\n'
    expect(await installOn(before)).toBe('it did not fail')
    expect(before.table).toStartWith('a\nb\n')
    const after = cronMachine('a\n', { keep: (table, count) => (count === 0 ? 'a\nc\n' : table) })
    expect(await installOn(after)).toBe('it did not fail')
    expect(after.table).toStartWith('a\nc\n')
  })

  test('a table that never stays as it was read is given up', async () => {
    const machine = cronMachine('a\n', { list: (_, count) => ({ stdout: `${count}\n` }) })
    expect(await installOn(machine)).toContain('another program writes to it')
    expect(machine.table).toBe('a\n')
  })

  test('says so when nothing reads the crontab, unless the daemon’s own note says otherwise', async () => {
    const machine = cronMachine(null, { pgrep: 1 })
    await (await scheduler).install(unit, machine.context)
    const look = async () => (await (await scheduler).inspect(unit, machine.context)).warnings
    expect(await look()).toEqual([expect.stringContaining('no cron daemon runs here')])
    machine.files.set('/run/crond.pid', '77\n').set('/proc/77/comm', '')
    expect(await look()).toEqual([])
  })
})
