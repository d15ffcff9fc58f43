import type { RunResult, SessionResult, SourceContext, VerifyContext } from '../../api/context.ts'
import type { SessionEnd, SessionRequest } from '../../api/harness.ts'
import type { SchedulerContext, Unit } from '../../api/scheduler.ts'
import type { TaskView, Violation } from '../../api/work.ts'
import { readVerdict } from '../../machine/verdict.ts'

/** What a program left that did nothing and went well. */
export function runResult(change: Partial<RunResult> = {}): RunResult {
  return { exitCode: 0, output: '', stdout: '', seconds: 0, timedOut: false, ...change }
}

/** What a source is given unless a check says otherwise: an empty project. */
export function sourceContext(change: Partial<SourceContext> = {}): SourceContext {
  return {
    loop: 'nightly',
    project: '/project',
    log() {},
    signal: new AbortController().signal,
    task: null,
    area: null,
    phases: ['implement', 'code_review'],
    tasks: [],
    audit: async () => [],
    readProjectFile: async () => null,
    run: async () => runResult(),
    runOnBase: async () => runResult(),
    baseFiles: async () => [],
    unmerged: async () => false,
    ...change,
  }
}

/** A task as sources see it. */
export function taskView(task: string, change: Partial<TaskView> = {}): TaskView {
  return {
    task,
    phase: 'implement',
    claimed_by: null,
    blocked_reason: null,
    design_ref: null,
    origin: { kind: 'human', fingerprint: null },
    created_at: '2026-01-01T00:00:00.000Z',
    ...change,
  }
}

/** A violation that an agent could settle. */
export function violation(path: string, change: Partial<Violation> = {}): Violation {
  return {
    id: `untested-source:${path}`,
    severity: 'MEDIUM',
    rule: 'untested-source',
    task: null,
    path,
    message: `${path}: no test names it`,
    fingerprint: `f-${path}`,
    ...change,
  }
}

/** What a session left that graded well. */
export function sessionResult(change: Partial<SessionResult> = {}): SessionResult {
  return {
    output: null,
    finalMessage: '{"pass":true,"score":1,"reasons":[],"next_hint":""}',
    sessionId: null,
    usage: { usd: null, tokens: null },
    finished: true,
    error: null,
    ...change,
  }
}

/** What a verifier is given unless a check says otherwise: a good artifact, and programs and sessions that go well. */
export function verifyContext(change: Partial<VerifyContext> = {}): VerifyContext {
  return {
    loop: 'nightly',
    project: '/project',
    log() {},
    signal: new AbortController().signal,
    task: 'fix-login',
    phase: 'implement',
    worktree: '/project/worktree',
    acceptanceCriteria: ['it works'],
    artifact: 'done',
    diff: '',
    session: async () => sessionResult(),
    readVerdict,
    // A verifier that measures finds a number.
    run: async () => runResult({ output: '1\n', stdout: '1\n' }),
    hasBase: true,
    memory: {},
    remember: async () => {},
    ...change,
  }
}

/** What a harness is asked unless a check says otherwise. */
export function sessionRequest(change: Partial<SessionRequest> = {}): SessionRequest {
  return {
    role: 'implement',
    model: null,
    prompt: 'Do the thing.',
    promptFile: '/loop/outputs/tick1-implement-prompt.md',
    cwd: '/loop/worktree',
    output: '/loop/worktree/.automaton-run/implement.md',
    tokens: { current_task: 'fix-login' },
    contained: false,
    ...change,
  }
}

/** How a session ended unless a check says otherwise: well, and without a word. */
export function sessionEnd(change: Partial<SessionEnd> = {}): SessionEnd {
  return { exitCode: 0, stdout: '', stderr: '', at: '2026-01-01T00:00:00.000Z', report: null, ...change }
}

/** What a scheduler is given unless a check says otherwise: a machine without programs and files. */
export function schedulerContext(change: Partial<SchedulerContext> = {}): SchedulerContext {
  return {
    loop: unit().loop,
    project: unit().project,
    log() {},
    signal: new AbortController().signal,
    home: '/home/pat',
    user: 1000,
    fromTick: false,
    run: async () => runResult(),
    readFile: async () => null,
    writeFile: async () => {},
    removeFile: async () => {},
    ...change,
  }
}

/** A loop's unit that no real loop has. */
export function unit(change: Partial<Unit> = {}): Unit {
  const loop = 'automaton-plugin-check'
  return { loop, project: '/project', script: `/project/${loop}.sh`, intervalSeconds: 3600, ...change }
}
