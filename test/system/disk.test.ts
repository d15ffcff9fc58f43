import { expect, test } from 'bun:test'
import { sharedFileSystem, sharedKind } from '../../src/system/disk.ts'
import { tempDir } from '../helpers/temp.ts'

test.each([
  [0x6969, 'NFS'],
  [-11317950, 'SMB'],
  [0xff534d42, 'SMB'],
  [0x01021997, '9p, as a drive of Windows in WSL is'],
  [0xef53, null],
  [0x01021994, null],
])('a file system of the number %i is shared: %p', (type, kind) => {
  expect(sharedKind(type)).toBe(kind)
})

test('the temporary folder is none of them', () => {
  using dir = tempDir()
  expect(sharedFileSystem(dir.path)).toBeNull()
  expect(sharedFileSystem(dir.path, 'darwin')).toBeNull()
})
