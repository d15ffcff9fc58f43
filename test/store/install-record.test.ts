import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installRecordFile, readInstallRecord, writeInstallRecord } from '../../src/store/install-record.ts'
import {
  forgetProject,
  forgetUnit,
  notedUnits,
  noteProject,
  noteUnit,
  projectBook,
  scheduledProjects,
} from '../../src/store/project-book.ts'
import { tempDir } from '../helpers/temp.ts'

test('what an installation did is remembered, and a damaged record is not taken for none', () => {
  using dir = tempDir()
  expect(readInstallRecord(dir.path).loops).toEqual({})
  const loops = { 'self-improvement': { made: true, scheduled: false } }
  writeInstallRecord(dir.path, { schema_version: 1, loops })
  expect(readInstallRecord(dir.path).loops).toEqual(loops)
  for (const text of ['', '{}', '{"schema_version":1,"loops":{"x":true}}']) {
    writeFileSync(installRecordFile(dir.path), text)
    expect(() => readInstallRecord(dir.path)).toThrow('it is not what an installation wrote')
  }
})

test('projects with a schedule are written down once each, whatever their names, and forgotten', () => {
  using dir = tempDir()
  expect(scheduledProjects(dir.path)).toEqual([])
  for (const root of ['/b c', '/a', '/b c', '/ü']) noteProject(dir.path, root)
  writeFileSync(`${projectBook(dir.path)}/.automaton-tmp-0123456789abcdef`, '/half')
  expect(scheduledProjects(dir.path)).toEqual(['/a', '/b c', '/ü'])
  forgetProject(dir.path, '/b c')
  forgetProject(dir.path, '/never')
  expect(scheduledProjects(dir.path)).toEqual(['/a', '/ü'])
})

test('a unit is remembered until it is removed, and a loop has one', () => {
  using dir = tempDir()
  const unit = { root: '/b c', loop: 'nightly', scheduler: 'cron' }
  noteUnit(dir.path, { ...unit, scheduler: 'systemd' })
  noteUnit(dir.path, unit)
  noteUnit(dir.path, { ...unit, loop: 'other' })
  // What no loop can be named is nobody's unit.
  writeFileSync(join(projectBook(dir.path), '01234567.con'), '/a\ncron\n')
  expect(notedUnits(dir.path)).toEqual(expect.arrayContaining([unit, { ...unit, loop: 'other' }]))
  expect(notedUnits(dir.path)).toHaveLength(2)
  forgetUnit(dir.path, unit)
  expect(notedUnits(dir.path)).toEqual([{ ...unit, loop: 'other' }])
  expect(scheduledProjects(dir.path)).toEqual(['/b c'])
})
