import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { binary } from '../helpers/cli.ts'
import { must, type TestProject } from '../helpers/project.ts'
import { artifact, haltedLoop, makeTarget, trying } from './kit.ts'

setDefaultTimeout(60_000)

const linux = process.platform === 'linux'

/** Runs a command where nothing of the session's environment is left, by a process whose parent is gone. */
const orphan = (command: string) =>
  [
    'note=$(mktemp)',
    `inner="${command}; echo \\$? > $note"`,
    '(setsid env -i HOME="$HOME" PATH="$PATH" ID="$ID" ROOT="$ROOT" AUTOMATON_HOME="$AUTOMATON_HOME" sh -c "sleep 0.1; $inner" &)',
    'while [ ! -s $note ]; do sleep 0.02; done',
    'exit $(cat $note)',
  ].join('\n')

/** The program, as another file with a name of its own: `$helper`. */
const copied = `helper=$(mktemp -d)/helper; ln '${binary}' $helper || cp '${binary}' $helper`

/** A new project around folders of the real one. */
const around = (...folders: string[]) =>
  [
    'cd "$(mktemp -d)" && git init -qb main . && mkdir .automaton',
    ...folders.map((folder) => `ln -s "$ROOT/.automaton/${folder}" .automaton/${folder}`),
  ].join('\n')

/** A project of its own, whose folder becomes a link while the call waits for a lock. */
const swapped = (folder: string, lock: string, command: string) =>
  [
    'cd "$(mktemp -d)" && git init -qb main . && git -c user.name=a -c user.email=a@a commit -qm x --allow-empty',
    'alias mine="env -u AUTOMATON_IN_TICK -u AUTOMATON_RUN_ID automaton"',
    'mine init && mine create-loop other --from-template backlog',
    'echo x | mine create-task fix-it --brief -',
    `mkfifo ready; (flock 9; echo > ready; sleep 1) 9> ${lock} & read -r _ < ready`,
    `(sleep 0.6; mv ${folder} was; ln -s "$ROOT/${folder}" ${folder}) &`,
    orphan(command),
  ].join('\n')

/** Ways in which a session without shame asks for an approval; `$APPROVE` is the plain command. */
const routes: Record<string, string> = {
  'by its name': '$APPROVE',
  'by the path in AUTOMATON_BIN': '"$AUTOMATON_BIN" approve --loop other --halt $ID',
  'with its marker unset': 'env -u AUTOMATON_IN_TICK $APPROVE',
  'with an empty marker': 'AUTOMATON_IN_TICK= $APPROVE',
  'with an empty environment': 'env -i HOME="$HOME" PATH="$PATH" $APPROVE',
  'in a new session': 'env -u AUTOMATON_IN_TICK setsid -w $APPROVE',
  'under nohup': 'env -u AUTOMATON_IN_TICK nohup $APPROVE',
  'on a terminal made by script': 'script -qec "env -u AUTOMATON_IN_TICK $APPROVE" /dev/null',
  ...(Bun.which('python3')
    ? {
        'on a terminal made by python':
          'env -u AUTOMATON_IN_TICK python3 -c "import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))" $APPROVE',
      }
    : {}),
  'on a terminal made by script, typing the word':
    '{ sleep 0.2; echo $ID; } | script -qec "env -u AUTOMATON_IN_TICK automaton approve --loop other" /dev/null',
  'with a word from a pipe': 'yes $ID | env -u AUTOMATON_IN_TICK automaton approve --loop other',
  'after removing run.json':
    'rm -f ../run.json; exec env -i HOME="$HOME" PATH="$PATH" AUTOMATON_HOME="$AUTOMATON_HOME" $APPROVE',
  'from an orphan with an empty environment': orphan('$APPROVE'),
  'from an orphan, by a copy of the program': `${copied}\n${orphan('$helper approve --loop other --halt $ID')}`,
  'from an orphan, by a copy of the program, with run.json away': [
    `${copied}; mv ../run.json ../run.away`,
    `(${orphan('$helper approve --loop other --halt $ID')})`,
    'code=$?; mv ../run.away ../run.json; exit $code',
  ].join('\n'),
  'in a project of its own whose loops are a link': `${around('loops', 'tasks')}\n${orphan('$APPROVE')}`,
  'in a project of its own whose tasks are a link': `${around('tasks')}\n${orphan('automaton approve --task fix-it --to complete')}`,
  'in a project of its own whose loops become a link': swapped(
    '.automaton/loops',
    '.automaton/loops/other/.state.lock',
    '$APPROVE',
  ),
  'in a project of its own whose tasks become a link': swapped(
    '.automaton/tasks',
    '.automaton/cache/tasks.lock',
    'automaton approve --task fix-it --to complete',
  ),
  'in a project of its own with the same log': [
    `${around()}; mkdir -p .automaton/loops/other; cp "$ROOT"/.automaton/loops/other/* .automaton/loops/other`,
    'cp "$ROOT/.automaton/loops/other/.state.loop" .automaton/loops/other',
    'ln "$ROOT/.automaton/loops/other/.state.log" .automaton/loops/other/.state.log',
    orphan('$APPROVE'),
  ].join('\n'),
  'in a project of its own with a copy of the loop': [
    around(),
    'cp -R "$ROOT/.automaton/loops" .automaton && rm -f .automaton/loops/*/run.json',
    orphan('$APPROVE'),
  ].join('\n'),
  'with a copy of .automaton in its place': [
    'cd "$ROOT" && mv .automaton .was && cp -a .was .automaton',
    `(${orphan('$APPROVE')})`,
    'code=$?; rm -rf .automaton && mv .was .automaton; exit $code',
  ].join('\n'),
  'by another path to the project':
    'cd / && env -u AUTOMATON_IN_TICK automaton approve --project "$ROOT" --loop other --halt $ID',
  'for a loop of another project':
    'cd "$ELSEWHERE" && env -i HOME="$HOME" PATH="$PATH" automaton approve --loop other --halt $THERE',
  'for a plugin, from outside of any project': `cd /\n${orphan('automaton plugins trust $ROOT/evil.ts')}`,
  'for a plugin, from within a project of its own': `${around()}\n${orphan('automaton plugins trust $ROOT/evil.ts')}`,
  'for the program itself, from outside of any project': `cd /\n${orphan('automaton uninstall --yes')}`,
  'for a task': 'env -u AUTOMATON_IN_TICK automaton approve --task fix-it --to complete',
  'through repair':
    'rm -f "$ROOT/.automaton/loops/third/.state.loop"; env -u AUTOMATON_IN_TICK automaton repair third',
  'by making a loop of its own':
    'env -u AUTOMATON_IN_TICK automaton create-loop mine --from-template backlog',
  'by resuming': 'env -u AUTOMATON_IN_TICK automaton resume-loop other',
  'by ticking': 'env -u AUTOMATON_IN_TICK automaton tick other',
}

describe.if(linux)('a session that asks for an approval is refused, and the halt stays', () => {
  let p: TestProject
  let elsewhere: TestProject
  let tries: ReturnType<typeof trying>
  let pid: string
  let id: string

  beforeAll(async () => {
    ;[p, elsewhere] = await Promise.all([makeTarget(), makeTarget({ task: false })])
    id = await haltedLoop(p, 'other')
    await haltedLoop(p, 'third')
    const there = await haltedLoop(elsewhere, 'other')
    tries = trying(p, routes)
    const settings = `export ID=${id} ROOT='${p.root}' ELSEWHERE='${elsewhere.root}' THERE=${there} APPROVE='automaton approve --loop other --halt ${id}'`
    const late = join(p.scenarioDir, 'late')
    const waiting = `while kill -0 $PPID; do sleep 0.02; done; $APPROVE; echo > ${late}`
    const daemon = `setsid env -i HOME="$HOME" PATH="$PATH" sh -c '${waiting}' >/dev/null 2>&1 & echo $! > ${late}.pid`
    p.script({ implement: `${settings}\n${tries.script}\n${daemon}` })
    const call = await p.tick()
    // That run.json went away for a while is all that it was caught at.
    if (p.state().halt?.detail !== 'tamper:run.json') throw new Error(call.stdout + call.stderr)
    pid = readFileSync(`${late}.pid`, 'utf8').trim()
  })

  afterAll(() => {
    p[Symbol.dispose]()
    elsewhere[Symbol.dispose]()
  })

  const stateOf = (project: TestProject, loop: string) =>
    JSON.parse(readFileSync(join(project.root, '.automaton', 'loops', loop, '.state.loop'), 'utf8'))

  for (const name of Object.keys(routes)) {
    test(`${name} (S1, S2, S3)`, () => {
      expect(tries.of(name)).toMatchObject({ code: 6 })
    })
  }

  test('and both loops are still halted by the same halt (S1, S2, S3)', () => {
    expect(stateOf(p, 'other')).toMatchObject({
      status: 'halted',
      halt: { id },
      resumed_count: 0,
    })
    expect(stateOf(elsewhere, 'other')).toMatchObject({ status: 'halted', resumed_count: 0 })
    expect(p.task().phase).toBe('implement')
    expect(existsSync(join(p.root, '.automaton', 'loops', 'mine'))).toBe(false)
  })

  test('a process that waits for the tick to end before it approves is ended with the tick (S3)', () => {
    expect(existsSync(`/proc/${pid}`)).toBe(false)
    expect(existsSync(join(p.scenarioDir, 'late'))).toBe(false)
  })
})

describe('without a person at a terminal', () => {
  test('no pipe, file or option answers for one (S4)', async () => {
    using p = await makeTarget({ task: false })
    const id = await haltedLoop(p, 'other')
    const approve = ['approve', '--loop', 'other']
    expect((await p.call(approve, { stdin: `${id}\n`.repeat(1000) })).code).toBe(3)
    for (const option of ['--yes', '-y', '--force']) expect((await p.call([...approve, option])).code).toBe(2)
    for (const wrong of ['x', '', `${id} `, id.toUpperCase()]) {
      expect((await p.call([...approve, '--halt', wrong])).code).not.toBe(0)
    }
    const list = (await p.call(['loop-list', '--json'])).json()
    expect(JSON.stringify(list)).toContain('"status":"halted"')
  })

  test('an approval counts once, for the halt that it names (S4, S12)', async () => {
    using p = await makeTarget({ loop: { brakes: { max_iterations: 1 } } })
    await p.tick()
    const first = p.state().halt.id
    const approve = () => p.call(['approve', '--loop', p.loop, '--halt', first])
    expect((await approve()).code).toBe(0)
    expect((await approve()).code).toBe(3)
    expect((await p.tick()).code).toBe(4)
    expect((await approve()).code).toBe(3)
    expect(p.state()).toMatchObject({ status: 'halted', resumed_count: 1 })
  })

  test('after one a person may change loop.json, and a session may not (S12)', async () => {
    using p = await makeTarget({ loop: { brakes: { max_iterations: 1 } } })
    await p.tick()
    const first = p.state().halt.id
    const approve = () => p.call(['approve', '--loop', p.loop, '--halt', first])
    expect((await approve()).code).toBe(0)
    p.configure({ brakes: { max_iterations: 3 } })
    expect((await p.tick()).code).toBe(0)
    p.script({ implement: `sed -i 's/"max_iterations": 3/"max_iterations": 99/' ../loop.json\n${artifact}` })
    expect((await p.tick()).code).toBe(6)
    expect(p.state().halt).toMatchObject({ reason: 'drift_detected', detail: 'tamper:loop.json' })
    expect(p.state().halt.id).not.toBe(first)
    expect((await approve()).code).toBe(3)
    expect((await p.tick()).code).not.toBe(0)
    expect(p.state()).toMatchObject({ status: 'halted', resumed_count: 1 })
  })
})

test('the tests of a program that uses automaton may make projects of their own in a session (S1)', async () => {
  using p = await makeTarget()
  const inside = [
    'cd "$(mktemp -d)" && git init -qb main . && git -c user.name=a -c user.email=a@a commit -qm x --allow-empty && unset AUTOMATON_IN_TICK AUTOMATON_RUN_ID',
    'automaton init && automaton create-loop mine --from-template backlog',
    'rm .automaton/loops/mine/.state.loop && automaton repair mine',
    `id=$(sed -n 's/^    "id": "\\(.*\\)",$/\\1/p' .automaton/loops/mine/.state.loop)`,
    'automaton approve --loop mine --halt "$id"',
  ].join(' && ')
  const tries = trying(p, { 'its own project': inside })
  p.script({ implement: `sleep 0.1\n${tries.script}` })
  await p.tick()
  expect(tries.of('its own project')).toMatchObject({ code: 0 })
})

test.if(linux)(
  'who puts a new folder in the place of .automaton gets no approval, and is caught (S1, S3)',
  async () => {
    using p = await makeTarget()
    const id = await haltedLoop(p, 'other')
    const tries = trying(p, {
      'a folder that is new': [
        `cd '${p.root}' && mkdir new && mv .automaton/* .automaton/.[a-z]* new && rmdir .automaton && mv new .automaton`,
        orphan(`automaton approve --loop other --halt ${id}`),
      ].join('\n'),
    })
    p.script({ implement: `sleep 0.1\n${tries.script}` })
    expect((await p.tick()).code).toBe(6)
    expect(tries.of('a folder that is new')).toMatchObject({ code: 6 })
    expect(p.state().halt).toMatchObject({ reason: 'drift_detected', detail: 'tamper:.automaton' })
  },
)

test.each(['.automaton', '.automaton/loops', '.automaton/tasks'])(
  'nothing is written through %s when it is a link',
  async (name) => {
    using p = await makeTarget()
    const folder = join(p.root, name)
    renameSync(folder, join(p.root, 'elsewhere'))
    symlinkSync(join(p.root, 'elsewhere'), folder)
    const call = await p.tick()
    expect(call).toMatchObject({ code: 5 })
    expect(call.stderr).toContain(`folder is a link (${folder})`)
    expect((await p.call(['create-task', 'more', '--brief', '-'], { stdin: 'More.\n' })).code).toBe(5)
    await must(p.call(['status']))
  },
)
