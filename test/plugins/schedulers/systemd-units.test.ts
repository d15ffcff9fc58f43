import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calendar, readUnitFile, systemdUnits } from '../../../plugins/schedulers/systemd-units.ts'
import { needs } from '../../crash/needs.ts'
import { tempDir } from '../../helpers/temp.ts'
import { hostilePaths } from './machine.ts'

const unit = {
  loop: 'nightly',
  project: '/home/pat/work',
  script: '/home/pat/tick.sh',
  intervalSeconds: 3600,
}

test('the units of a loop say when to tick, and that nothing outlives a tick', () => {
  const { name, service, timer } = systemdUnits(unit)
  expect(name).toMatch(/^automaton-[0-9a-f]{8}-nightly$/)
  expect(readUnitFile(service)).toEqual({
    'Unit.Description': 'Automaton loop nightly of /home/pat/work, one tick',
    'Service.Type': 'oneshot',
    'Service.ExecStart': '/bin/sh "/home/pat/tick.sh"',
    'Service.KillMode': 'control-group',
    'Service.OOMPolicy': 'continue',
    'Service.TimeoutStartSec': 'infinity',
    'Service.SuccessExitStatus': '3 4',
  })
  expect(readUnitFile(timer)).toEqual({
    'Unit.Description': 'Automaton loop nightly of /home/pat/work, its timer',
    'Timer.OnCalendar': '*-*-* *:00:00 UTC',
    'Timer.Persistent': 'true',
    'Timer.AccuracySec': '1s',
    'Install.WantedBy': 'timers.target',
  })
})

test('the units of two projects have two names', () => {
  expect(systemdUnits({ ...unit, project: '/home/pat/Work' }).name).not.toBe(systemdUnits(unit).name)
})

test('a path is written so that systemd replaces nothing in it', () => {
  const line = (script: string) =>
    readUnitFile(systemdUnits({ ...unit, script }).service)['Service.ExecStart']
  expect(line('/a b/%h/$HOME/"x"/y\\')).toBe('/bin/sh "/a b/%%h/$$HOME/\\"x\\"/y\\\\"')
  expect(() => line('/a\nExecStart=/bin/evil')).toThrow('control character')
})

test('a unit file is read as systemd reads it', () => {
  const text = '# x\n[A]\nb = 1 = 2 \n; y\nc=\n\n[D]\nb=3\\\n  4\nb=5\nno value\n'
  expect(readUnitFile(text)).toEqual({ 'A.b': '1 = 2', 'A.c': '', 'D.b': ['3   4', '5'] })
})

const analyzes = needs('systemd-analyze')

analyzes(
  'systemd accepts the units of every project, and finds nothing to say about them',
  async () => {
    using dir = tempDir()
    const files = hostilePaths.flatMap((path, i) => {
      const script = join(dir.path, path, 'tick.sh')
      mkdirSync(join(dir.path, path), { recursive: true })
      writeFileSync(script, '#!/bin/sh\n', { mode: 0o700 })
      const { name, service, timer } = systemdUnits({
        loop: `l${i}`,
        project: path,
        script,
        intervalSeconds: 60,
      })
      writeFileSync(join(dir.path, `${name}.service`), service)
      writeFileSync(join(dir.path, `${name}.timer`), timer)
      return [join(dir.path, `${name}.service`), join(dir.path, `${name}.timer`)]
    })
    const { stderr, exitCode } = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', ...files])
    const about = stderr
      .toString()
      .split('\n')
      .filter((line) => line.includes('automaton'))
    expect(about).toEqual([])
    expect(exitCode).toBe(0)
  },
  30_000,
)

analyzes(
  'the calendar fires every step, on the nights when clocks change too',
  async () => {
    for (const step of [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60]) {
      // Ninety seconds before the clocks of New York go back.
      const base = '2026-11-01 05:58:30 UTC'
      const { stdout } = Bun.spawnSync(
        ['systemd-analyze', 'calendar', '--iterations=6', `--base-time=${base}`, calendar(step)],
        { env: { PATH: process.env.PATH ?? '', TZ: 'America/New_York', LC_ALL: 'C' } },
      )
      const times = [...stdout.toString().matchAll(/(?:\(in UTC\)|elapse|#\d+): +\w+ (\S+ \S+) UTC/g)].map(
        ([, time]) => Date.parse(`${time}Z`) / 60_000,
      )
      const [first = 0, ...later] = times
      expect(later).toHaveLength(5)
      expect(first % step).toBe(0)
      expect(later.map((time, i) => time - (times[i] ?? 0))).toEqual(Array(5).fill(step))
    }
  },
  30_000,
)
