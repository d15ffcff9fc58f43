import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestProject } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'
import { artifact, attack, honest, makeTarget, type Pair, readPair, writePair } from './kit.ts'

setDefaultTimeout(60_000)

const failing = `echo '{"pass": false, "score": 0.3, "reasons": ["no"], "next_hint": ""}'`

/** A project in which two honest ticks have run, and a third one in which the session does the given thing. */
async function thirdTick(script: string, before?: (p: TestProject) => void) {
  const p = await makeTarget({ scenario: { verify: failing } })
  for (const _ of [1, 2]) await p.tick()
  before?.(p)
  p.script({ 'implement-3': `${script}\n${artifact}` })
  const call = await p.tick()
  return { p, call }
}

/** The last line of a log, with something else in it, chained on as automaton would. */
function forged(pair: Pair, data: object): string {
  const last = pair.log.trim().split('\n').at(-1) ?? ''
  const record = JSON.parse(last)
  const prev = createHash('sha256').update(last).digest('hex')
  return JSON.stringify({
    ...record,
    prev,
    seq: record.seq + 1,
    type: 'approve',
    by: 'human',
    data,
    task: undefined,
  })
}

describe('a session that edits the state or its log is caught, and the counts stay', () => {
  const lift = [
    's/"iteration_count": 2/"iteration_count": 0/',
    's/"fail_streak": 2/"fail_streak": 0/',
    's/"consecutive_errors": [0-9]*/"consecutive_errors": -9/',
    's/"wall_seconds": [0-9.]*/"wall_seconds": 0/',
  ].map((edit) => `-e '${edit}'`)
  const cases: [name: string, script: string, detail: string][] = [
    ['counts set back in the state (S5)', `sed -i ${lift.join(' ')} ../.state.loop`, 'tamper:.state.loop'],
    ['the state deleted (S7)', 'rm ../.state.loop', 'tamper:.state.loop'],
    ['the log deleted (S7)', 'rm ../.state.log', 'tamper:.state.log'],
    [
      'both deleted, and the lock and run.json with them (S7)',
      'rm -f ../.state.* ../run.json',
      'tamper:.state.log',
    ],
    [
      'an older state and log put back (S8)',
      'cp "$OLD/state" ../.state.loop; cp "$OLD/log" ../.state.log',
      'tamper:.state.log',
    ],
    [
      'an approval forged, with its place in the chain (S9)',
      'cat "$OLD/forged" >> ../.state.log',
      'tamper:.state.log',
    ],
  ]
  for (const [name, script, detail] of cases) {
    test.concurrent(name, async () => {
      const { p, call } = await thirdTick(`OLD=$AUTOMATON_HOME.old\n${script}`, (project) => {
        const pair = readPair(project)
        const older = pair.log.trim().split('\n').slice(0, -1)
        const state = { ...JSON.parse(older.at(-1) ?? '').state }
        state.log_head = createHash('sha256')
          .update(older.at(-1) ?? '')
          .digest('hex')
        writeFiles(join(project.home, '.automaton.old'), {
          state: JSON.stringify(state, null, 2),
          log: `${older.join('\n')}\n`,
          forged: `${forged(pair, {})}\n`,
        })
      })
      using _ = p
      expect(call.code).toBe(6)
      expect(p.state()).toMatchObject({
        status: 'halted',
        halt: { reason: 'drift_detected', detail },
        iteration_count: 3,
        resumed_count: 0,
      })
      expect(p.log().some((record) => record.type === 'approve')).toBe(false)
      // The log is whole again, and a person can go on from it.
      expect((await p.call(['can-continue', p.loop])).json()).toMatchObject({ state: 'HALTED' })
      expect((await p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id])).code).toBe(0)
    })
  }

  test.concurrent('the lock and run.json alone: nobody else gets in, and it is caught (S7)', async () => {
    const second =
      'env -i PATH=/usr/bin:/bin sh -c "exec 9<>../.state.lock; flock -n 9"; flock -n .. true && exit 9'
    const { p, call } = await thirdTick(`rm -f ../.state.lock ../run.json; ${second}`)
    using _ = p
    expect(call.code).toBe(6)
    expect(p.state()).toMatchObject({ iteration_count: 3, halt: { detail: 'tamper:run.json' } })
  })

  test.concurrent('the whole folder of the loop: the tick fails, and no later one starts from zero (S7)', async () => {
    const { p, call } = await thirdTick('rm -rf "$(dirname "$PWD")"')
    using _ = p
    expect([5, 6]).toContain(call.code ?? 0)
    const again = await p.tick()
    expect(again.code).toBeGreaterThan(0)
    expect(existsSync(join(p.loopDir, '.state.loop'))).toBe(false)
  })
})

describe('brake files that nobody can read are caught, and nothing is spent on them', () => {
  const cases: [name: string, script: string, what: string][] = [
    [
      'a sparse file of terabytes among the plugins (S10)',
      'D=../../../plugins; mkdir -p $D; truncate -s 4T $D/x.bin',
      'plugins/x.bin',
    ],
    ['a configuration of terabytes (S10)', 'truncate -s 4T ../loop.json', 'loop.json'],
    [
      'a pipe among the prompts (S10)',
      'mkfifo ../implement.md.x; mv ../implement.md.x ../implement.md',
      'implement.md',
    ],
    [
      'a hook of terabytes (S14)',
      'truncate -s 4T "$(git rev-parse --git-common-dir)/hooks/post-merge"',
      'hooks/post-merge',
    ],
  ]
  for (const [name, script, what] of cases) {
    test.concurrent(name, async () => {
      using a = await attack(script, {}, (p) => mkdirSync(join(p.root, '.git/hooks'), { recursive: true }))
      expect(a.call.code).toBe(6)
      expect(a.halt.files).toContain(`tamper:${what}`)
    })
  }
})

describe('an edit between two ticks, as by a process that outlived its session, is refused', () => {
  let p: TestProject
  let good: Pair
  beforeAll(async () => {
    p = await makeTarget({ scenario: { verify: failing } })
    for (const _ of [1, 2, 3]) await p.tick()
    good = readPair(p)
  })
  afterAll(() => p[Symbol.dispose]())

  const edits: [name: string, code: number, edit: (state: Record<string, unknown>) => void][] = [
    [
      'a halt taken out of the state (S6)',
      6,
      (state) => Object.assign(state, { status: 'running', halt: null }),
    ],
    ['an iteration count set back (S6)', 6, (state) => Object.assign(state, { iteration_count: 0 })],
    ['an approval counted (S6)', 6, (state) => Object.assign(state, { resumed_count: 1 })],
    ['a baseline moved (S6)', 6, (state) => Object.assign(state, { iteration_base: 3 })],
    [
      'money given back (S6)',
      6,
      (state) => Object.assign(state, { cost: { usd: -5, tokens: 0, reported: true } }),
    ],
    ['a failure forgotten (S6)', 6, (state) => Object.assign(state, { fail_streak: 0, score_history: [] })],
    ['another head of the log (S6)', 6, (state) => Object.assign(state, { log_head: 'f'.repeat(64) })],
  ]
  for (const [name, code, edit] of edits) {
    test(name, async () => {
      const state = JSON.parse(good.state)
      edit(state)
      writePair(p, { ...good, state: JSON.stringify(state) })
      const call = await p.tick()
      // What no state can hold is damage, the rest tampering: either is refused, and nothing is written.
      expect(call.code === code || (call.code === 5 && call.stderr.includes('repair'))).toBe(true)
      expect(readPair(p).log).toBe(good.log)
      expect(
        (await p.call(['approve', '--loop', p.loop, '--halt', JSON.parse(good.state).halt.id])).code,
      ).toBeGreaterThan(4)
    })
  }

  const logs: [name: string, log: (text: string) => string | null][] = [
    [
      'a line of the log changed (S9)',
      (text) => text.replace('"type":"halt"', '"type":"hold"').replace('verifier_failed', 'verifier_passed'),
    ],
    ['a line of the log taken out (S9)', (text) => text.split('\n').toSpliced(1, 1).join('\n')],
    ['the end of the log cut off (S9)', (text) => `${text.trim().split('\n').slice(0, -1).join('\n')}\n`],
    ['a line added that does not follow (S9)', (text) => `${text}${text.trim().split('\n').at(-1)}\n`],
    [
      'two lines added that do (S9)',
      (text) => {
        const one = { state: '', log: `${text}${forged({ state: '', log: text }, {})}\n` }
        return `${one.log}${forged(one, {})}\n`
      },
    ],
    ['the log deleted (S7)', () => null],
  ]
  for (const [name, change] of logs) {
    test(name, async () => {
      const log = change(good.log)
      writePair(p, { ...good, log: log ?? '' })
      if (log === null) rmSync(join(p.loopDir, '.state.log'))
      const call = await p.tick()
      expect(call.code).toBe(6)
      expect(call.stderr).toContain('automaton repair nightly')
      expect(readFileSync(join(p.loopDir, '.state.loop'), 'utf8')).toBe(good.state)
      if (log === null) writeFileSync(join(p.loopDir, '.state.log'), '')
    })
  }

  test('the state deleted is no fresh loop (S7)', async () => {
    writePair(p, good)
    rmSync(join(p.loopDir, '.state.loop'))
    const call = await p.tick()
    expect(call.code).toBe(5)
    expect(existsSync(join(p.loopDir, '.state.loop'))).toBe(false)
  })

  test('state and log deleted are no fresh loop (S7)', async () => {
    for (const name of ['.state.loop', '.state.log']) rmSync(join(p.loopDir, name), { force: true })
    expect((await p.tick()).code).toBe(3)
    expect((await p.call(['check-gate', p.loop])).json()).toMatchObject({ ok: false, reason: 'untracked' })
    expect(existsSync(join(p.loopDir, '.state.loop'))).toBe(false)
    writePair(p, good)
  })

  test('repair ends halted, whatever was forged (S6, S9)', async () => {
    const state = { ...JSON.parse(good.state), status: 'running', halt: null, iteration_count: 0 }
    writePair(p, { ...good, state: JSON.stringify(state) })
    expect((await p.call(['repair', p.loop])).code).toBe(0)
    expect(p.state()).toMatchObject({ status: 'halted', iteration_count: 3 })
  })
})

describe('a session that edits what people decide is caught, and nothing of it counts', () => {
  test('loop.json, prompts, plugins and settings in the checkout and in HOME, each by name (S10)', async () => {
    const edits = [
      `sed -i 's/"max_iterations": [0-9]*/"max_iterations": 999/' ../loop.json`,
      'echo lift > ../loop-implement.md',
      'mkdir -p "$AUTOMATON_HOME/prompts" "$AUTOMATON_HOME/plugins" ../../../plugins',
      'echo lift > "$AUTOMATON_HOME/prompts/loop-implement.md"',
      'echo lift > "$AUTOMATON_HOME/plugins/command.ts"',
      'echo lift > ../../../plugins/command.ts',
      `echo '{"models": []}' > "$AUTOMATON_HOME/models.json"`,
      'echo "version: 9" > "$AUTOMATON_HOME/config.md"',
      `echo '{"phases": ["implement"]}' > ../../../config.json`,
    ]
    using a = await attack(edits.join('\n'), { loop: { brakes: { max_iterations: 1 } } })
    expect(a.call.code).toBe(6)
    expect(a.halt.files).toEqual(
      [
        'config.json',
        'home/config.md',
        'home/models.json',
        'home/plugins/command.ts',
        'home/prompts/loop-implement.md',
        'loop-implement.md',
        'loop.json',
        'plugins/command.ts',
      ].map((name) => `tamper:${name}`),
    )
    expect((await a.p.tick()).code).toBe(6)
    expect(a.p.state()).toMatchObject({ status: 'halted', iteration_count: 1 })
  })

  test('copies in the worktree are out of scope, committed or not, and none is read (S10)', async () => {
    const plant = [
      'mkdir -p .automaton/plugins .automaton/loops/nightly prompts',
      `echo '{"brakes": {"max_iterations": 999}}' > .automaton/loops/nightly/loop.json`,
      'echo "throw 1" > .automaton/plugins/command.ts',
      `echo '{"phases": ["implement"]}' > .automaton/config.json`,
      'git add -Af; git -c user.name=a -c user.email=a@a commit -qm x',
    ]
    using a = await attack(plant.join('\n'), { createArgs: [] })
    expect(a.call.code).toBe(4)
    expect(a.halt.files).toEqual([
      '.automaton/config.json',
      '.automaton/loops/nightly/loop.json',
      '.automaton/plugins/command.ts',
    ])
  })

  test('the worktree as a working folder leads to the same project (S10)', async () => {
    using p = await makeTarget()
    await p.tick()
    writeFiles(p.worktree, { '.automaton/loops/mine/loop.json': '{}', '.automaton/tasks/x/TASK.md': 'x' })
    const list = (await p.call(['loop-list', '--json'], { cwd: p.worktree, home: p.home })).json()
    expect(JSON.stringify(list)).not.toContain('"mine"')
  })

  test('a session that lifts a brake and kills its tick halts the next one (S5, S10)', async () => {
    using p = await makeTarget({
      scenario: {
        implement: `sed -i 's/"max_iterations": [0-9]*/"max_iterations": 999/' ../loop.json; kill -9 $PPID; sleep 30`,
      },
    })
    expect((await p.tick()).code).not.toBe(0)
    p.script({ implement: honest.implement ?? '' })
    expect((await p.tick()).code).toBeGreaterThan(2)
    expect(p.state()).toMatchObject({
      status: 'halted',
      halt: { detail: 'tamper:loop.json' },
      iteration_count: 0,
    })
  })

  test.each([
    [
      'KILL',
      'a hook',
      'echo x > "$(git rev-parse --git-common-dir)/hooks/post-merge"',
      'tamper:hooks/post-merge',
    ],
    [
      'TERM',
      'a hook',
      'echo x > "$(git rev-parse --git-common-dir)/hooks/post-merge"',
      'tamper:hooks/post-merge',
    ],
    [
      'TERM',
      'a brake',
      `sed -i 's/"max_iterations": [0-9]*/"max_iterations": 999/' ../loop.json`,
      'tamper:loop.json',
    ],
    [
      'KILL',
      'run.json',
      `until grep -q '"group"' ../run.json; do :; done; echo "{}" > ../run.json`,
      'tamper:run.json',
    ],
  ])(
    'a session that ends its tick with SIG%s after it changed %s is caught (S10, S14)',
    async (signal, _what, change, detail) => {
      using p = await makeTarget({ scenario: { implement: `${change}; kill -${signal} $PPID; sleep 30` } })
      expect((await p.tick()).code).not.toBe(0)
      p.script({ implement: honest.implement ?? '' })
      expect((await p.tick()).code).toBeGreaterThan(2)
      expect(p.state()).toMatchObject({ status: 'halted', halt: { detail }, iteration_count: 0 })
    },
  )

  test('so is the code that a verifier’s command runs: it may change no brake and approve nothing (S1, S5, S10)', async () => {
    const check = [
      '#!/bin/sh',
      'automaton approve --loop nightly --halt x; echo $? >> codes',
      'env -u AUTOMATON_IN_TICK automaton pause-loop nightly; echo $? >> codes',
      `sed -i 's/"max_iterations": [0-9]*/"max_iterations": 999/' ../loop.json`,
      'cp codes "$HOME/codes"',
    ]
    using p = await makeTarget({
      files: { 'check.sh': `${check.join('\n')}\n`, 'src/work.txt': 'x\n' },
      loop: { verifiers: [{ use: 'command', options: { commands: ['./check.sh'] } }] },
    })
    const path = `${process.env.TEST_AUTOMATON_BIN?.replace(/\/[^/]*$/, '') ?? join(import.meta.dir, '../../dist')}:${process.env.PATH}`
    const call = await p.call(['tick', p.loop], { env: { PATH: path } })
    expect(call.code).toBe(6)
    expect(p.state().halt).toMatchObject({ reason: 'drift_detected', detail: 'tamper:loop.json' })
    expect(readFileSync(join(p.home, 'codes'), 'utf8')).toBe('6\n6\n')
    expect(readdirSync(p.loopDir)).not.toContain('.pause-request')
  })
})

describe('a session that keeps its tick from writing down what it left', () => {
  const spend = 'echo \'{"usd": 50, "tokens": 7}\' > "$AUTOMATON_COST_FILE"'
  const block = 'mv ../outputs ../moved; echo > ../outputs'

  test('is charged all the same, and the tick counts as one that did not finish', async () => {
    using attacked = await attack([spend, block].join('\n'))
    expect(attacked.call.code).toBe(5)
    expect(attacked.p.state()).toMatchObject({
      status: 'running',
      cost: { usd: 50, tokens: 7, reported: true },
      incomplete_ticks: 1,
    })
  })

  test.each([
    ['removes run.json', 'rm ../run.json'],
    ['puts another one there', `sed -i 's/"tick": 1/"tick": 9/' ../run.json`],
    ['puts a folder there', 'rm ../run.json; mkdir -p ../run.json/x'],
  ])('and %s is caught at it, and at what else it did', async (_name, script) => {
    const lift = `sed -i 's/"interval_seconds": [0-9]*/"interval_seconds": 1/' ../loop.json`
    // The tick writes it once more when the session has started: what happens before that is undone.
    const started = `until grep -q '"group"' ../run.json; do sleep 0.02; done`
    using attacked = await attack([spend, lift, started, script, block].join('\n'))
    const { p, halt } = attacked
    expect(attacked.call.code).toBe(5)
    expect(halt).toMatchObject({ reason: 'drift_detected', detail: 'tamper:run.json' })
    expect(halt.files).toEqual(['run.json', 'loop.json'])
    expect(p.state()).toMatchObject({ cost: { usd: 50, tokens: 7, reported: true }, incomplete_ticks: 1 })
    expect(existsSync(join(p.loopDir, 'run.json'))).toBe(false)
    rmSync(join(p.loopDir, 'outputs'))
    expect((await p.tick()).code).toBe(6)
  })
})
