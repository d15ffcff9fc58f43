import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { taskDrift } from '../../../plugins/schedulers/schtasks-compare.ts'
import {
  documentText,
  flatten,
  ownerMark,
  readTask,
  taskDocument,
  taskTree,
} from '../../../plugins/schedulers/schtasks-xml.ts'
import { needs } from '../../crash/needs.ts'
import { tempDir } from '../../helpers/temp.ts'

const unit = { loop: 'nightly', project: 'C:\\work', script: 'C:\\work\\tick.cmd', intervalSeconds: 5400 }
const sid = 'S-1-5-21-1-2-3-1001'
const text = (document: Uint8Array) => Buffer.from(document).toString('utf16le').replace('\ufeff', '')

/** Every character that a Windows path may have and that means something to a reader on the way. */
const hostile = [
  "C:\\two words\\a & b\\(c)\\d^e\\f;g,h=i\\j'k\\l!m\\n`o\\{p}[q]\\r@s#t$u+v~w",
  'C:\\100% sure\\Ünïcødé\\日本語\\🙂',
].map((path) => ({ ...unit, project: path, script: `${path}\\tick.cmd` }))

test('a task runs on batteries, for as long as it takes, makes up for missed starts, and shows no window', () => {
  const settings = readTask(text(taskDocument(taskTree(unit, sid))))
  expect(settings).toEqual({
    'RegistrationInfo/Source': ownerMark(unit),
    'RegistrationInfo/Description': 'Automaton loop nightly of C:\\work, one tick',
    'Triggers/TimeTrigger/StartBoundary': '2000-01-01T00:00:00Z',
    'Triggers/TimeTrigger/Repetition/Interval': 'PT30M',
    'Principals/Principal/UserId': sid,
    'Principals/Principal/LogonType': 'InteractiveToken',
    'Principals/Principal/RunLevel': 'LeastPrivilege',
    'Settings/MultipleInstancesPolicy': 'IgnoreNew',
    'Settings/DisallowStartIfOnBatteries': 'false',
    'Settings/StopIfGoingOnBatteries': 'false',
    'Settings/StartWhenAvailable': 'true',
    'Settings/RunOnlyIfNetworkAvailable': 'false',
    'Settings/RunOnlyIfIdle': 'false',
    'Settings/Enabled': 'true',
    'Settings/Hidden': 'true',
    'Settings/ExecutionTimeLimit': 'PT0S',
    'Actions/Exec/Command': '%SystemRoot%\\System32\\conhost.exe',
    'Actions/Exec/Arguments': '--headless cmd.exe /d /c .\\tick.cmd',
    'Actions/Exec/WorkingDirectory': 'C:\\work',
  })
})

test('a document is UTF-16 with a byte order mark, and comes back as it was whatever the path', () => {
  for (const one of [unit, ...hostile]) {
    const document = taskDocument(taskTree(one, sid))
    expect([...document.slice(0, 4)]).toEqual([0xff, 0xfe, 0x3c, 0])
    expect(readTask(text(document))).toEqual(flatten(taskTree(one, sid)))
  }
})

test('a path that Windows would replace a part of, or that no line can hold, is refused', () => {
  for (const [script, why] of [
    ['C:\\%TEMP%\\tick.cmd', 'percent signs'],
    ['C:\\a\n\\tick.cmd', 'control character'],
    ['\\\\server\\share\\tick.cmd', 'on the network'],
    ['C:\\a\\b c.cmd', 'not that of a script'],
    ['tick.cmd', 'not that of a script'],
  ] as const) {
    expect(() => taskTree({ ...unit, script }, null)).toThrow(why)
  }
})

test('what schtasks prints is read in whatever encoding it comes', () => {
  const printed =
    '<?xml version="1.0" encoding="UTF-16"?><Task><Actions><Exec><Command>Ü</Command></Exec></Actions></Task>'
  const bytes = {
    'UTF-16 with a mark': Buffer.from(`\ufeff${printed}`, 'utf16le'),
    'UTF-16 without': Buffer.from(printed, 'utf16le'),
    'UTF-8': Buffer.from(printed),
  }
  for (const raw of Object.values(bytes)) {
    expect(readTask(documentText(raw.toString('latin1')))).toEqual({ 'Actions/Exec/Command': 'Ü' })
  }
  const inCodePage437 = Buffer.from(printed.replace('Ü', '\x9a'), 'latin1')
  expect(readTask(documentText(inCodePage437.toString('latin1')))).toEqual({ 'Actions/Exec/Command': '\x9a' })
  expect(() => readTask('<html/>')).toThrow('it is a <html>, and no task')
})

const wanted = flatten(taskTree(hostile[1] ?? unit, sid))

test('what Windows writes its own way is no difference', () => {
  const { 'Principals/Principal/RunLevel': _, 'Settings/MultipleInstancesPolicy': _policy, ...rest } = wanted
  const found = {
    ...rest,
    'RegistrationInfo/URI': '\\Automaton\\work-nightly',
    'RegistrationInfo/Description': '?',
    'Principals/Principal/UserId': 'PC\\pat',
    'Triggers/TimeTrigger/Enabled': 'true',
    'Triggers/TimeTrigger/Repetition/Interval': 'PT0H30M',
    'Triggers/TimeTrigger/Repetition/StopAtDurationEnd': 'false',
    'Settings/IdleSettings/StopOnIdleEnd': 'true',
    'Actions/Exec/WorkingDirectory': String(wanted['Actions/Exec/WorkingDirectory']).replaceAll(
      /[^ -~]+/g,
      '??',
    ),
  }
  expect(taskDrift(wanted, found)).toEqual([])
  expect(taskDrift({ a: 'PT90M' }, { a: 'PT1H30M' })).toEqual([])
  expect(taskDrift({ a: 'P1D' }, { a: 'PT24H' })).toEqual([])
})

test('what makes a task do something else, or not start, is a difference', () => {
  const change = (path: string, value: string | string[] | undefined) => {
    const { [path]: _, ...rest } = wanted
    return taskDrift(wanted, value === undefined ? rest : { ...rest, [path]: value })
  }
  expect(change('Settings/DisallowStartIfOnBatteries', undefined)).toEqual([
    'Settings/DisallowStartIfOnBatteries is "true", and not "false"',
  ])
  expect(change('Settings/ExecutionTimeLimit', undefined)).toEqual([
    'Settings/ExecutionTimeLimit is "259200 seconds", and not "0 seconds"',
  ])
  expect(change('Actions/Exec/Command', ['a', 'b'])).toHaveLength(1)
  expect(change('Actions/Exec/WorkingDirectory', 'C:\\x')).toHaveLength(1)
  expect(change('Actions/ComHandler/ClassId', 'x')).toEqual([
    'Actions/ComHandler/ClassId is "x", and should not be there',
  ])
  expect(change('Triggers/TimeTrigger/Enabled', 'false')).toHaveLength(1)
  expect(change('Triggers/TimeTrigger/StartBoundary', '2099-01-01T00:00:00Z')).toHaveLength(1)
})

needs('xmllint')(
  'every task is valid by the schema of the Task Scheduler',
  async () => {
    using dir = tempDir()
    const validate = (name: string, document: Uint8Array) => {
      const file = join(dir.path, name)
      writeFileSync(file, document)
      const schema = join(import.meta.dir, '..', '..', 'fixtures', 'task-scheduler.xsd')
      const { stderr } = Bun.spawnSync(['xmllint', '--noout', '--nonet', '--schema', schema, file])
      return stderr.toString()
    }
    for (const one of [
      unit,
      ...hostile,
      { ...unit, intervalSeconds: 60 },
      { ...unit, intervalSeconds: 90_000 },
    ]) {
      for (const user of [sid, null]) {
        const file = join(dir.path, 'good.xml')
        expect(validate('good.xml', taskDocument(taskTree(one, user)))).toBe(`${file} validates\n`)
      }
    }
    const bad = text(taskDocument(taskTree(unit, sid))).replace('PT30M', 'PT30S')
    expect(validate('bad.xml', Buffer.from(`\ufeff${bad}`, 'utf16le'))).toContain('less than the minimum')
  },
  30_000,
)
