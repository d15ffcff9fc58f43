import { describe, expect, test } from 'bun:test'
import { audit, auditRules, mayBeWorked } from '../../src/machine/audit.ts'
import { loopOf, makeAuditFacts, tracked, walked } from './audit/builders.ts'
import { busyState, makeTask } from './builders.ts'

const clean = {
  tasks: [tracked(walked(['implement', 'code_review', 'bug_hunt'], { 1: { actor: 'human' } }))],
  loops: [loopOf({ state: busyState({ current_phase: 'bug_hunt' }) })],
  sources: ['src/a.ts'],
  tests: [{ path: 'test/a.test.ts', text: '' }],
  designs: [{ path: 'design/x.md', missing: [] }],
}

test('a project in order has no violations', () => {
  expect(audit(makeAuditFacts(clean))).toEqual([])
})

test('an empty project has no violations', () => {
  expect(audit(makeAuditFacts())).toEqual([])
})

describe('the list', () => {
  const messy = makeAuditFacts({
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
