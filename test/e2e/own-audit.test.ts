import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { automaton } from '../helpers/cli.ts'
import { tempDir } from '../helpers/temp.ts'

test('the audit of this project has nothing to say', async () => {
  using dir = tempDir()
  const root = join(import.meta.dir, '..', '..')
  const args = ['audit', '--strict', '--json', '--project', root]
  const done = await automaton(args, { cwd: dir.path, home: join(dir.path, 'home') })
  const violations = done.json().violations as { message: string }[]
  // A source that no test names gets one, or a line in test/tested-through.test.ts.
  expect(violations.map(({ message }) => message)).toEqual([])
  expect(done.code).toBe(0)
})
