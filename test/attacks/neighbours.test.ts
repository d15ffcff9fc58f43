import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must } from '../helpers/project.ts'
import { artifact, makeTarget } from './kit.ts'

setDefaultTimeout(60_000)

/** A project with a second loop, and one tick of the first whose session runs the script. */
async function besideAnother(script: string) {
  const p = await makeTarget({ scenario: { implement: `cd ../..\n${script}\n${artifact}` } })
  await must(p.call(['create-loop', 'other', '--from-template', 'backlog']))
  return p
}

test.each([
  [
    'a cap of another loop',
    `sed -i 's/"max_iterations": [0-9]*/"max_iterations": 999/' other/loop.json`,
    'loops/other/loop.json',
  ],
  ['a prompt of another loop', 'echo lift > other/loop-implement.md', 'loops/other/loop-implement.md'],
  ['the configuration of another loop, which it removes', 'rm other/loop.json', 'loops/other/loop.json'],
  ['the project’s settings', `echo '{"phases": ["implement"]}' > ../config.json`, 'config.json'],
])('a session that changes %s is caught (S10)', async (_what, script, name) => {
  using p = await besideAnother(script)
  writeFileSync(join(p.loopDir, '..', 'other', 'loop-implement.md'), 'Do it.\n')
  expect((await p.tick()).code).toBe(6)
  expect(p.state().halt).toMatchObject({ reason: 'drift_detected', detail: `tamper:${name}` })
})

test('a loop that a person makes meanwhile, or whose interval is set, halts nobody', async () => {
  using p = await besideAnother(
    'touch "$AUTOMATON_HOME.here"; until test -e "$AUTOMATON_HOME.go"; do sleep 0.05; done',
  )
  const tick = p.tick()
  const here = `${p.home}/.automaton.here`
  while (!(await Bun.file(here).exists())) await Bun.sleep(10)
  await must(p.call(['create-loop', 'third', '--from-template', 'backlog']))
  const file = join(p.loopDir, '..', 'other', 'loop.json')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  config.schedule.interval_seconds = 7200
  writeFileSync(file, JSON.stringify(config, null, 2))
  writeFileSync(`${p.home}/.automaton.go`, '')
  expect((await tick).code).toBe(0)
})
