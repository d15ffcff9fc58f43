import { expect, test } from 'bun:test'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeMachine } from '../helpers/installer.ts'
import { must } from '../helpers/project.ts'

test('an uninstall takes the program away and leaves the repository, and says what is left; again is no fault', async () => {
  using m = makeMachine()
  await must(m.install(['--git-url', m.remote('home.git'), '--binary', m.program]))
  const asked = await m.call('uninstall')
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('automaton uninstall --yes') })
  expect(existsSync(join(m.home, 'bin', 'automaton'))).toBe(true)

  const done = await must(m.call('uninstall', '--yes'))
  expect(done.stdout).toContain(`gone  ${m.home}/bin/automaton`)
  expect(done.stdout).toContain('your repository')
  expect(readdirSync(join(m.home, 'bin'))).toEqual([])
  expect(await m.git('status', '--porcelain')).toBe('')
  expect(existsSync(join(m.home, '.automaton', 'loops', 'self-improvement', 'loop.json'))).toBe(true)
  expect((await must(m.run([m.program, 'uninstall', '--yes']))).stdout).toContain('nothing to take away')
  // What a person put beside the program is theirs.
  await must(m.install(['--binary', m.program]))
  writeFileSync(join(m.home, 'bin', 'mine'), '')
  await must(m.call('uninstall', '--yes'))
  expect(readdirSync(join(m.home, 'bin'))).toEqual(['mine'])
})

test('neither can be called from inside a tick', async () => {
  using m = makeMachine()
  for (const verb of ['install', 'uninstall']) {
    const done = await m.run([m.program, verb], { AUTOMATON_IN_TICK: 'nightly' })
    expect(done).toMatchObject({ code: 6, stderr: expect.stringContaining('refused inside a tick') })
  }
})
