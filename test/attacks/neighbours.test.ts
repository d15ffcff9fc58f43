import { expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must, type TestProject } from '../helpers/project.ts'
import { artifact, makeTarget } from './kit.ts'

setDefaultTimeout(60_000)

/** A project with a second loop, and one tick of the first whose session runs the script. */
async function besideAnother(script: string) {
  const p = await makeTarget({ scenario: { implement: `cd ../..\n${script}\n${artifact}` } })
  await must(p.call(['create-loop', 'other', '--from-template', 'backlog']))
  return p
}

/** A session that says that it is there, and waits to be told to go on. */
const waits = 'touch "$AUTOMATON_HOME.here"; until test -e "$AUTOMATON_HOME.go"; do sleep 0.05; done'

async function started(p: TestProject) {
  const here = `${p.home}/.automaton.here`
  while (!(await Bun.file(here).exists())) await Bun.sleep(10)
}

const goOn = (p: TestProject) => writeFileSync(`${p.home}/.automaton.go`, '')

const haltOf = (dir: string) => JSON.parse(readFileSync(join(dir, '.state.loop'), 'utf8')).halt.id

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

test.each([
  ['moves its branch', 'git update-ref refs/heads/automaton/other HEAD~0', 'refs/heads/automaton/other'],
  [
    'removes what was kept of it',
    'git update-ref -d refs/automaton/kept/other/1',
    'refs/automaton/kept/other/1',
  ],
  [
    'removes what was kept of a dead tick',
    'git update-ref -d refs/automaton/recovered/1',
    'refs/automaton/recovered/1',
  ],
])(
  'another loop that only seems to run, by a run.json or by a state that is gone, excuses no session that %s (S12)',
  async (_what, move, ref) => {
    for (const seems of [`echo '{}' > other/run.json`, 'rm -f other/.state.loop']) {
      using p = await besideAnother(`${seems}\n(cd nightly/worktree && ${move})`)
      for (const kept of [
        'refs/heads/automaton/other',
        'refs/automaton/kept/other/1',
        'refs/automaton/recovered/1',
      ])
        p.git('update-ref', kept, p.git('commit-tree', '-m', 'kept', 'HEAD^{tree}'))
      expect((await p.tick()).code).toBe(6)
      expect(p.state().halt.files).toContain(`tamper:${ref}`)
    }
  },
)

test.each([
  ['puts back what another loop was before it halted', 'cp "$AUTOMATON_HOME"/was/.state.* other/'],
  ['removes the history of another loop', 'rm other/.state.log other/.state.loop'],
])('a session that %s is caught (S6, S8)', async (_what, script) => {
  using p = await besideAnother(script)
  const other = join(p.loopDir, '..', 'other')
  const was = join(p.home, '.automaton', 'was')
  mkdirSync(was)
  for (const name of ['.state.loop', '.state.log']) copyFileSync(join(other, name), join(was, name))
  rmSync(join(other, '.state.loop'))
  await must(p.call(['repair', 'other']))
  await must(p.call(['approve', '--loop', 'other', '--halt', haltOf(other)]))
  rmSync(join(other, '.state.loop'))
  await must(p.call(['repair', 'other']))
  const { code } = await p.tick()
  const detail = 'tamper:loops/other/.state.log'
  expect({ code, halt: p.state().halt }).toMatchObject({
    code: 6,
    halt: { reason: 'drift_detected', detail },
  })
})

test('what people decide about another loop meanwhile halts nobody, nor does its repair', async () => {
  using p = await besideAnother(waits)
  await must(p.call(['create-loop', 'third', '--from-template', 'backlog']))
  const [other = '', third = ''] = ['other', 'third'].map((name) => join(p.loopDir, '..', name))
  rmSync(join(other, '.state.loop'))
  await must(p.call(['repair', 'other']))
  const tick = p.tick()
  await started(p)
  await must(p.call(['approve', '--loop', 'other', '--halt', haltOf(other)]))
  await must(p.call(['pause-loop', 'other']))
  await must(p.call(['resume-loop', 'other']))
  writeFileSync(join(third, '.state.log'), 'damaged\n')
  await must(p.call(['repair', 'third']))
  goOn(p)
  expect((await tick).code).toBe(0)
})

test('a loop that a person makes meanwhile, or whose interval is set, halts nobody', async () => {
  using p = await besideAnother(waits)
  const tick = p.tick()
  await started(p)
  await must(p.call(['create-loop', 'third', '--from-template', 'backlog']))
  const file = join(p.loopDir, '..', 'other', 'loop.json')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  config.schedule.interval_seconds = 7200
  writeFileSync(file, JSON.stringify(config, null, 2))
  goOn(p)
  expect((await tick).code).toBe(0)
})
