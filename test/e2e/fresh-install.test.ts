import { expect, test } from 'bun:test'
import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Machine, makeMachine } from '../helpers/installer.ts'
import { goodAgent, must, type Scenario } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'

const loop = 'self-improvement'

/** Writes the test that the audit misses, and works each further phase. */
const agent: Scenario = {
  ...goodAgent,
  implement: [
    'case $AUTOMATON_PHASE in',
    '  implement) mkdir -p test; echo "import \'../scripts/greet.ts\'" >test/greet.test.ts; v="";;',
    '  code_review) v="Verdict: PASS";; bug_hunt) v="Verdict: CLEAN";; referee) v="Verdict: APPROVED";; *) v="";;',
    'esac',
    'printf "Did the work.\\n%s\\n" "$v" >"$AUTOMATON_OUTPUT"',
  ].join('\n'),
}

/** An installed automaton on an empty repository, whose HOME then gets a source without a test. */
async function installed(): Promise<Machine & { loopDir: string }> {
  const m = makeMachine()
  const remote = m.remote('home.git')
  await must(m.install(['--git-url', remote, '--binary', m.program]))
  return { ...m, loopDir: join(m.home, '.automaton', 'loops', loop) }
}

async function seed(m: Machine): Promise<void> {
  writeFiles(m.home, { 'scripts/greet.ts': 'export const greet = () => "hello"\n' })
  await m.git('add', '-A')
  await m.git('commit', '-q', '-m', 'a script')
}

/** The scripted agent, where the user may read it. */
function giveAgent(m: Machine & { loopDir: string }): void {
  const folder = join(m.dir, 'agent')
  cpSync(join(import.meta.dir, '..', 'fixtures', 'bin', 'scripted-agent'), join(folder, 'scripted-agent'))
  writeFiles(folder, Object.fromEntries(Object.entries(agent).map(([role, text]) => [`${role}.sh`, text])))
  const file = join(m.loopDir, 'loop.json')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  config.harness = { ...config.harness, command: [join(folder, 'scripted-agent'), folder], writes: [folder] }
  writeFileSync(file, JSON.stringify(config, null, 2))
}

test('a fresh HOME has nothing to do: a tick of its loop does no work and costs nothing', async () => {
  using m = await installed()
  giveAgent(m)
  const tick = await must(m.call('tick', loop, '--project', m.home, '--json'))
  expect(tick.json()).toMatchObject({ outcome: 'no_work' })
  expect(existsSync(join(m.loopDir, 'worktree'))).toBe(false)
})

test('without an agent its scheduled ticks are refused in silence, and status, doctor and scheduled.log say what to do', async () => {
  using m = await installed()
  await seed(m)
  for (let tick = 0; tick < 2; tick++) {
    expect(await m.call('tick', loop, '--scheduled', '--project', m.home)).toMatchObject({
      ...{ code: 5, stdout: '', stderr: '' },
    })
  }
  expect(readFileSync(join(m.loopDir, 'scheduled.log'), 'utf8')).toMatch(
    /opencode is in no folder of PATH.*fix: install opencode/,
  )
  expect((await must(m.call('status', loop, '--project', m.home))).stdout).toMatch(/opencode/)
  const doctor = await m.call('doctor', '--project', m.home, '--json')
  expect(doctor.code).toBe(3)
  const findings = doctor.json().findings as { what: string; level: string; detail: string; fix: string }[]
  // Nothing runs the pretended crontab.
  const bad = findings.filter(({ level, detail }) => level === 'bad' && !detail.startsWith('no cron daemon'))
  expect(bad).toMatchObject([{ what: `loop ${loop}`, fix: expect.stringMatching(/opencode/) }])
  const state = JSON.parse(readFileSync(join(m.loopDir, '.state.loop'), 'utf8'))
  expect(state).toMatchObject({ status: 'running', iteration_count: 0, consecutive_errors: 0 })
})

test('it works a seeded finding on its branch, leaves the task and the merge to a person, and main as it was', async () => {
  using m = await installed()
  await seed(m)
  giveAgent(m)
  const before = { main: await m.git('rev-parse', 'main'), files: primary(m.home) }
  // The first tick is the scheduler's: the line that the installation left, in the environment that cron gives.
  const [, command = ''] = /^0 \* \* \* \* (.*)$/m.exec(m.crontab()) ?? []
  const cron = ['env', '-i', `HOME=${m.user}`, 'PATH=/usr/bin:/bin', 'SHELL=/bin/sh', '/bin/sh', '-c']
  expect(await m.run([...cron, command.replaceAll('\\%', '%')])).toMatchObject({
    ...{ code: 0, stdout: '', stderr: '' },
  })
  const [task = ''] = readdirSync(join(m.home, 'tasks')).filter((name) => !name.startsWith('.'))
  expect(taskState(m, task)).toMatchObject({
    phase: 'code_review',
    history: [{ to: 'implement' }, { from: 'implement', to: 'code_review', actor: `loop:${loop}` }],
  })
  expect(existsSync(join(m.loopDir, 'worktree', 'test', 'greet.test.ts'))).toBe(true)
  for (let left = 4; left > 0; left--) await must(m.call('tick', loop, '--project', m.home))
  expect(await m.git('diff', '--name-only', 'main', `automaton/${loop}`)).toBe('test/greet.test.ts')
  expect(taskState(m, task)).toMatchObject({
    phase: 'complete',
    design_ref: 'audit:untested-source:scripts/greet.ts',
  })
  expect({ main: await m.git('rev-parse', 'main'), files: primary(m.home) }).toEqual(before)
  const status = await must(m.call('status', loop, '--project', m.home, '--json'))
  expect(JSON.stringify(status.json().next)).toContain(`git merge automaton/${loop}`)
  // The finding stands until a person merges; it makes no second task.
  expect((await must(m.call('tick', loop, '--project', m.home, '--json'))).json()).toMatchObject({
    outcome: 'no_work',
  })
  await m.git('merge', '-q', `automaton/${loop}`)
  expect((await must(m.call('audit', '--project', m.home, '--json'))).json().violations).toEqual([])
})

function taskState(m: Machine, task: string): unknown {
  return JSON.parse(readFileSync(join(m.home, 'tasks', task, '.state'), 'utf8'))
}

/** The person's files in the checkout: name, mode, time and text. */
function primary(home: string): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^(\.automaton|\.git|tasks|bin)(\/|$)/.test(name))
    .map((name) => {
      const { mode, mtimeMs } = lstatSync(join(home, name))
      const text = lstatSync(join(home, name)).isFile() ? readFileSync(join(home, name), 'utf8') : ''
      return `${name} ${mode} ${mtimeMs} ${text}`
    })
    .toSorted()
}
