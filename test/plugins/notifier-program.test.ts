import { expect, test } from 'bun:test'
import { liesIn, programFile } from '../../plugins/notifiers/program.ts'

const there = new Set([
  'C:\\Windows\\powershell.exe',
  'D:\\tools\\tell.exe',
  'D:\\tools\\say.cmd',
  '.\\planted.exe',
])
const path = 'C:\\Windows\\;;.;relative\\folder;D:\\tools'

test.each([
  ['a name is looked for in the absolute folders of PATH', 'powershell.exe', 'C:\\Windows\\powershell.exe'],
  ['its ending may be left out', 'tell', 'D:\\tools\\tell.exe'],
  ['an absolute path stays', 'D:\\tools\\tell.exe', 'D:\\tools\\tell.exe'],
  ['what lies in the working folder is none', 'planted.exe', null],
  ['a path that starts in the working folder is none', '.\\planted.exe', null],
  ['a path on the current drive is none', '\\tools\\tell.exe', null],
  ['a script is none', 'say', null],
  ['a script with its ending is none', 'D:\\tools\\say.cmd', null],
])('on Windows %s', (_, name, file) => {
  expect(programFile(name, path, { windows: true, exists: (one) => there.has(one) })).toBe(file)
})

test.each([
  ['a name is looked for in the absolute folders of PATH', 'notify-send', '/usr/bin/notify-send'],
  ['an absolute path stays', '/opt/tell', '/opt/tell'],
  ['one that is not there is none', '/opt/none', null],
  ['what lies in the working folder is none', 'planted', null],
  ['a path that starts in the working folder is none', './planted', null],
])('elsewhere %s', (_, name, file) => {
  const files = new Set([
    '/usr/bin/notify-send',
    '/opt/tell',
    './planted',
    'planted',
    'bin/planted',
    '/planted',
  ])
  const found = programFile(name, '.::bin:/usr/bin/', { windows: false, exists: (one) => files.has(one) })
  expect(found).toBe(file)
})

test.each([
  ['/p/x', '/p', false, true],
  ['/px', '/p', false, false],
  ['/P/x', '/p', false, false],
  ['c:\\USERS\\me\\p\\x.exe', 'C:\\Users\\me\\p', true, true],
  ['C:/Users/me/p/x.exe', 'C:\\Users\\me\\p', true, true],
  ['C:\\Users\\me\\pq\\x.exe', 'C:\\Users\\me\\p', true, false],
])('%s in %s, Windows %p: %p', (program, folder, windows, inside) => {
  expect(liesIn(program, folder, windows)).toBe(inside)
})
