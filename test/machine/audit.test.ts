import { describe, expect, test } from 'bun:test'
import type { Phase } from '../../src/api/work.ts'
import {
  type AuditFacts,
  type AuditLoop,
  type AuditTask,
  audit,
  auditRules,
  mayBeWorked,
  mentionedFiles,
} from '../../src/machine/audit.ts'
import { haltLoop } from '../../src/machine/loop.ts'
import { keptPhases } from '../../src/machine/phases.ts'
import type { HistoryEntry, TaskState } from '../../src/machine/task.ts'
import { at, busyState, makeState, makeTask } from './builders.ts'

const everyFile = [
  'TASK.md',
  'IMPLEMENTATION.md',
  'CODE_REVIEW.md',
  'BUG_REPORT.md',
  'ADVERSARIAL_BUG_REPORT.md',
]

function makeFacts(changes: Partial<AuditFacts> = {}): AuditFacts {
  return {
    now: new Date('2026-06-23T10:00:00Z'),
    kept: keptPhases(null),
    tasks: [],
    untracked: [],
    loops: [],
    modelCount: 0,
    sources: [],
    tests: [],
    designs: [],
    ...changes,
  }
}

function tracked(state: TaskState, changes: Partial<AuditTask> = {}): AuditTask {
  const { task } = state
  const path = `.automaton/tasks/${task}/.state`
  return {
    task,
    path,
    state,
    problem: null,
    files: [...everyFile, 'REFEREE.md'],
    verdicts: {},
    hasDesign: null,
    ...changes,
  }
}

function loopOf(changes: Partial<AuditLoop> = {}): AuditLoop {
  const path = '.automaton/loops/nightly/.state.loop'
  return { loop: 'nightly', path, state: makeState(), problem: null, unit: null, ...changes }
}

/** A task that went through the given phases, the last of which it is in. */
function walked(path: Phase[], changes: Partial<Record<number, Partial<HistoryEntry>>> = {}): TaskState {
  const history = path.map(
    (to, i): HistoryEntry => ({
      seq: i + 1,
      at,
      from: path[i - 1] ?? null,
      to,
      actor: 'loop:nightly',
      session: `s${i}`,
      model: null,
      note: '',
      ...changes[i + 1],
    }),
  )
  return makeTask(path.at(-1) ?? 'implement', { history })
}

const rulesOf = (changes: Partial<AuditFacts>) => audit(makeFacts(changes)).map(({ rule }) => rule)
const rulesOn = (state: TaskState, changes: Partial<AuditTask> = {}) =>
  rulesOf({ tasks: [tracked(state, changes)] })

const clean = {
  tasks: [tracked(walked(['implement', 'code_review', 'bug_hunt'], { 1: { actor: 'human' } }))],
  loops: [loopOf({ state: busyState({ current_phase: 'bug_hunt' }) })],
  sources: ['src/a.ts'],
  tests: [{ path: 'test/a.test.ts', text: '' }],
  designs: [{ path: 'design/x.md', missing: [] }],
}

test('a project in order has no violations', () => {
  expect(audit(makeFacts(clean))).toEqual([])
})

test('an empty project has no violations', () => {
  expect(audit(makeFacts())).toEqual([])
})

describe('state', () => {
  test('state that cannot be read is critical, for tasks and for loops', () => {
    const problem = 'not JSON'
    const found = audit(
      makeFacts({
        tasks: [tracked(makeTask('implement'), { state: null, problem })],
        loops: [loopOf({ state: null, problem })],
      }),
    )
    expect(found).toHaveLength(2)
    expect(found.every(({ rule, severity }) => rule === 'unreadable-state' && severity === 'CRITICAL')).toBe(
      true,
    )
    expect(found.map(({ path }) => path).sort()).toEqual([
      '.automaton/loops/nightly/.state.loop',
      '.automaton/tasks/fix-login/.state',
    ])
  })

  test('a folder without state is named', () => {
    const untracked = [{ task: 'lost', path: '.automaton/tasks/lost' }]
    expect(audit(makeFacts({ untracked }))).toMatchObject([
      { rule: 'untracked-task', severity: 'HIGH', task: 'lost', path: '.automaton/tasks/lost' },
    ])
  })

  test('a phase that is not where the history ends', () => {
    expect(rulesOn({ ...walked(['implement', 'code_review']), phase: 'referee' })).toEqual([
      'phase-history-mismatch',
    ])
    expect(rulesOn({ ...makeTask('implement'), history: [] })).toEqual(['phase-history-mismatch'])
  })
})

describe('history', () => {
  test.each<[Phase[], boolean]>([
    [['implement', 'code_review', 'implement', 'code_review', 'bug_hunt'], true],
    [['implement', 'code_review', 'bug_hunt', 'adversarial_review', 'referee', 'complete'], true],
    [['implement', 'human_intervention'], true],
    [['decompose', 'implement'], true],
    [['decompose', 'design'], true],
    [['implement', 'bug_hunt'], false],
    [['implement', 'complete'], false],
    [['referee', 'complete', 'implement'], false],
    [['design', 'decompose'], false],
    [['implement', 'human_intervention', 'implement'], false],
    [['implement', 'implement'], false],
  ])('a loop that walks %j: %p', (path, isLegal) => {
    expect(rulesOn(walked(path)).includes('illegal-history-edge')).toBe(!isLegal)
  })

  test('a person leaves design and human_intervention', () => {
    const human = { actor: 'human' }
    const state = walked(['design', 'decompose', 'human_intervention', 'implement'], { 2: human, 4: human })
    expect(rulesOn({ ...state, design_ref: 'design/x.md' }, { hasDesign: true })).toEqual([])
  })

  test('a project that keeps fewer phases skips the others', () => {
    const tasks = [tracked(walked(['implement', 'referee']))]
    expect(rulesOf({ tasks, kept: keptPhases(['implement', 'referee']) })).toEqual([])
    expect(rulesOf({ tasks })).toEqual(['illegal-history-edge'])
  })

  test('a gap, a wrong start and a jump are found', () => {
    expect(rulesOn(walked(['implement', 'code_review'], { 2: { seq: 5 } }))).toEqual(['illegal-history-edge'])
    expect(rulesOn(walked(['implement'], { 1: { from: 'decompose' } }))).toContain('illegal-history-edge')
    expect(rulesOn(walked(['implement', 'referee'], { 2: { from: 'adversarial_review' } }))).toEqual([
      'illegal-history-edge',
    ])
  })
})

describe('artifacts', () => {
  test('a phase that was left without its artifact', () => {
    const found = audit(
      makeFacts({
        tasks: [tracked(walked(['implement', 'code_review', 'bug_hunt']), { files: ['TASK.md'] })],
      }),
    )
    expect(found.map(({ rule, message }) => `${rule} ${message}`).sort()).toEqual([
      'missing-artifact fix-login: code_review was left, but CODE_REVIEW.md is missing or empty',
      'missing-artifact fix-login: implement was left, but IMPLEMENTATION.md is missing or empty',
    ])
  })

  test('a phase that was left to call a person needs none', () => {
    expect(rulesOn(walked(['implement', 'human_intervention']), { files: [] })).toEqual([])
  })

  test('a review that was left another way than it says', () => {
    const forward = walked(['implement', 'code_review', 'bug_hunt'])
    expect(rulesOn(forward, { verdicts: { code_review: 'PASS' } })).toEqual([])
    expect(rulesOn(forward, { verdicts: { code_review: 'CHANGES' } })).toEqual(['verdict-mismatch'])
    expect(rulesOn(forward, { verdicts: { code_review: null } })).toEqual(['verdict-mismatch'])
    const back = walked(['implement', 'code_review', 'implement'])
    expect(rulesOn(back, { verdicts: { code_review: 'CHANGES' } })).toEqual([])
    expect(rulesOn(back, { verdicts: { code_review: 'PASS' } })).toEqual(['verdict-mismatch'])
    const blocked = walked(['referee', 'complete'])
    expect(rulesOn(blocked, { verdicts: { referee: 'BLOCKED' } })).toEqual(['verdict-mismatch'])
  })

  test('a newer artifact of the phase that the task is in again is not held against it', () => {
    const again = walked(['code_review', 'implement', 'code_review'])
    expect(rulesOn(again, { verdicts: { code_review: 'PASS' } })).toEqual([])
  })
})

describe('conflicts', () => {
  const path: Phase[] = ['implement', 'code_review', 'bug_hunt']

  test('a review by the session that implemented', () => {
    expect(rulesOn(walked(path, { 2: { session: 'x' }, 3: { session: 'x' } }))).toEqual(['session-conflict'])
  })

  test('a review by the model that implemented, where there is another', () => {
    const tasks = [tracked(walked(path, { 2: { model: 'a' }, 3: { model: 'a' } }))]
    expect(rulesOf({ tasks, modelCount: 2 })).toEqual(['model-conflict'])
    expect(rulesOf({ tasks, modelCount: 1 })).toEqual([])
    const two = [tracked(walked(path, { 2: { model: 'a' }, 3: { model: 'b' } }))]
    expect(rulesOf({ tasks: two, modelCount: 2 })).toEqual([])
  })
})

describe('claims and loops', () => {
  test('a claim on a task that is gone or complete, or by a complete loop', () => {
    const loops = [loopOf({ state: busyState() })]
    const open = [tracked(makeTask('implement'))]
    expect(rulesOf({ loops })).toEqual(['orphan-claim'])
    expect(rulesOf({ loops, tasks: [tracked(makeTask('complete'))] })).toEqual(['orphan-claim'])
    expect(rulesOf({ loops: [loopOf({ state: busyState({ status: 'complete' }) })], tasks: open })).toEqual([
      'orphan-claim',
    ])
    expect(rulesOf({ loops, tasks: open })).toEqual([])
  })

  test('a claim by a loop that does not exist; a person’s claim is fine', () => {
    const claimed = (claimed_by: string) => [tracked(makeTask('implement', { claimed_by }))]
    expect(rulesOf({ tasks: claimed('loop:gone') })).toEqual(['orphan-claim'])
    expect(rulesOf({ tasks: claimed('human:pat') })).toEqual([])
    expect(rulesOf({ tasks: claimed('loop:nightly'), loops: [loopOf()] })).toEqual([])
  })

  test('a halted loop says why', () => {
    const halt = { id: 'h', reason: 'verifier_failed', detail: 'flat', files: [], at } as const
    expect(audit(makeFacts({ loops: [loopOf({ state: haltLoop(makeState(), halt) })] }))).toMatchObject([
      { rule: 'halted-loop', severity: 'LOW', message: 'loop nightly is halted: verifier_failed (flat)' },
    ])
  })

  test('a schedule that is missing, off or changed, for a running loop that should have one', () => {
    const scheduled = makeState({ schedule: { enabled: true, kind: 'cron' } })
    const withUnit = (installed: boolean, enabled: boolean, drift: string[], state = scheduled) =>
      rulesOf({ loops: [loopOf({ state, unit: { installed, enabled, drift } })] })
    expect(withUnit(true, true, [])).toEqual([])
    expect(withUnit(false, false, [])).toEqual(['schedule-unit'])
    expect(withUnit(true, false, [])).toEqual(['schedule-unit'])
    expect(withUnit(true, true, ['another path'])).toEqual(['schedule-unit'])
    expect(withUnit(false, false, [], { ...scheduled, status: 'paused' })).toEqual([])
    expect(withUnit(false, false, [], makeState())).toEqual([])
  })
})

describe('tasks and designs', () => {
  test('an open task that nobody touched for more than 14 days', () => {
    const stale = (phase: Phase, now: string) =>
      rulesOf({ tasks: [tracked(makeTask(phase))], now: new Date(now) })
    expect(stale('implement', '2026-07-06T10:00:00Z')).toEqual([])
    expect(stale('implement', '2026-07-06T10:00:01Z')).toEqual(['stale-task'])
    expect(stale('complete', '2027-01-01T00:00:00Z')).toEqual([])
  })

  test('a design that is gone, or was never named', () => {
    const named = makeTask('implement', { design_ref: 'design/x.md' })
    expect(rulesOn(named, { hasDesign: false })).toEqual(['missing-design-reference'])
    expect(rulesOn(named, { hasDesign: true })).toEqual([])
    expect(rulesOn(makeTask('implement'))).toEqual([])
    expect(rulesOn(walked(['design', 'decompose'], { 2: { actor: 'human' } }))).toEqual([
      'missing-design-reference',
    ])
  })

  test('a design document that names a file which is not there, each file once', () => {
    const designs = [{ path: 'design/x.md', missing: ['src/a.ts', 'src/a.ts', 'src/b.ts'] }]
    expect(rulesOf({ designs })).toEqual(['design-names-missing-file', 'design-names-missing-file'])
  })

  test('files that a document mentions', () => {
    const text = [
      'See `src/a.ts`, `./src/b.ts:12`, [c](docs/c.md#part) and [web](https://x.test/y.html).',
      'Not `src/`, `*.ts`, `src/<loop>.ts`, `a.ts`, `../x/y.ts`, `npm test`, src/plain.ts, `src/**/z.ts`.',
      'Again `src/a.ts`, `.github/workflows/ci.yml`.',
    ].join('\n')
    expect(mentionedFiles(text)).toEqual(['.github/workflows/ci.yml', 'docs/c.md', 'src/a.ts', 'src/b.ts'])
  })
})

describe('untested sources', () => {
  const untested = (sources: string[], tests: AuditFacts['tests']) =>
    audit(makeFacts({ sources, tests })).map(({ path }) => path)

  test('a test names a source by its file name, with or without the ending', () => {
    const tests = [
      { path: 'test/a.test.ts', text: '' },
      { path: 'tests/test_b.py', text: '' },
      { path: 'test/x.test.ts', text: "import { c } from '../src/c.ts'\nimport d from '../src/deep/d'" },
      { path: 'test/folder.test.ts', text: '' },
    ]
    const sources = ['src/a.ts', 'src/b.py', 'src/c.ts', 'src/deep/d.ts', 'src/folder/index.ts', 'src/e.ts']
    expect(untested(sources, tests)).toEqual(['src/e.ts'])
  })

  test('a word that only contains the name does not count', () => {
    expect(untested(['src/due.ts'], [{ path: 'test/x.test.ts', text: 'overdue residue' }])).toEqual([
      'src/due.ts',
    ])
  })
})

describe('the list', () => {
  const messy = makeFacts({
    tasks: [tracked({ ...makeTask('implement'), phase: 'referee' }, { files: [] })],
    loops: [
      loopOf({ state: null, problem: 'bad' }),
      loopOf({ loop: 'b', path: 'b', state: busyState({ current_task: 'x' }) }),
    ],
    untracked: [{ task: 'u', path: 'u' }],
    sources: ['src/z.ts', 'src/y.ts', 'src/x.ts'],
    now: new Date('2027-01-01T00:00:00Z'),
  })

  test('is sorted by severity, then by fingerprint', () => {
    const found = audit(messy)
    const order = ['CRITICAL', 'HIGH', 'MEDIUM', 'LOW']
    const keys = found.map(({ severity, fingerprint }) => `${order.indexOf(severity)} ${fingerprint}`)
    expect(keys).toEqual([...keys].sort())
    expect(new Set(found.map(({ severity }) => severity)).size).toBe(4)
  })

  test('is the same on every run and for every order of the facts', () => {
    const turned = { ...messy, sources: [...messy.sources].reverse(), loops: [...messy.loops].reverse() }
    expect(audit(turned)).toEqual(audit(messy))
  })

  test('has fingerprints that differ by place and not by time', () => {
    const found = audit(messy)
    expect(new Set(found.map(({ fingerprint }) => fingerprint)).size).toBe(found.length)
    const nextDay = { ...messy, now: new Date('2027-01-02T00:00:00Z') }
    expect(audit(nextDay).map(({ fingerprint }) => fingerprint)).toEqual(
      found.map(({ fingerprint }) => fingerprint),
    )
  })

  test('has the keys of the contract', () => {
    expect(Object.keys(audit(messy)[0] ?? {}).sort()).toEqual([
      'fingerprint',
      'id',
      'message',
      'path',
      'rule',
      'severity',
      'task',
    ])
  })
})

test('the rules and their severities', () => {
  expect(auditRules.map(({ name, severity }) => `${severity} ${name}`)).toEqual([
    'CRITICAL unreadable-state',
    'HIGH untracked-task',
    'HIGH illegal-history-edge',
    'HIGH phase-history-mismatch',
    'HIGH missing-artifact',
    'HIGH verdict-mismatch',
    'HIGH session-conflict',
    'MEDIUM model-conflict',
    'MEDIUM orphan-claim',
    'MEDIUM missing-design-reference',
    'MEDIUM untested-source',
    'MEDIUM design-names-missing-file',
    'LOW halted-loop',
    'LOW stale-task',
    'LOW schedule-unit',
  ])
})

test('an agent may work what a worktree can put right, and nothing about loops and state', () => {
  expect(auditRules.map(({ name }) => name).filter(mayBeWorked)).toEqual([
    'untested-source',
    'design-names-missing-file',
    'stale-task',
  ])
  expect(mayBeWorked('no-such-rule')).toBe(false)
})
