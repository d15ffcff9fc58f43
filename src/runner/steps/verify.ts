import type { VerifyContext } from '../../api/context.ts'
import type { ReadVerdict, UnreadableVerdict } from '../../api/verdict.ts'
import { errors } from '../../errors.ts'
import type { Halt } from '../../machine/state.ts'
import { combineVerdicts, readVerdict } from '../../machine/verdict.ts'
import { writeAtomic } from '../../store/atomic.ts'
import { outputFile } from '../../store/outputs.ts'
import { readTask } from '../../store/tasks.ts'
import { sessionEnv } from '../../system/environment.ts'
import { exec } from '../../system/exec.ts'
import { maskSecrets } from '../../system/hygiene.ts'
import { contain } from '../containment.ts'
import { caughtAt } from '../halt.ts'
import type { Journalist } from '../journalist.ts'
import { LaidBase } from '../laid-base.ts'
import { type Recall, Remembered } from '../remembered.ts'
import type { Scene, Site, Work } from '../scene.ts'
import { SessionFailed } from '../session-failed.ts'
import { type WatchedOutcome, watched, watchedSession } from '../watch.ts'
import type { Made } from './implement.ts'

const defaultRunSeconds = 600

/** What the verifiers said. */
export interface Graded {
  result: ReadVerdict | UnreadableVerdict
  /** The verify session, if one was spent. */
  session: WatchedOutcome | null
  /** The halt for what a verifier was caught at. */
  halt: Halt | null
  /** What the verifiers want to keep; to be written when the tick has settled. */
  remembered: Remembered | null
}

/** Grades what was made: by rule where nothing was, else by each verifier in order until one that is free fails. */
export async function verify(o: {
  scene: Scene
  site: Site
  work: Work
  made: Made
  journalist: Journalist
}): Promise<Graded> {
  const ruled = byRule(o.work, o.made)
  if (ruled) return { result: ruled, session: null, halt: null, remembered: null }
  const { host, progress } = o.scene.deps
  progress(`tick ${o.scene.tick}: verify`)
  const remembered = new Remembered(o.scene, o.site)
  const base = new LaidBase(o.scene, o.site, o.made)
  const { contextFor, spent } = contexts(o, base)
  const read: ReadVerdict[] = []
  try {
    for (const { use, options } of o.scene.config.verifiers) {
      const result = await host.verify(use, options ?? {}, contextFor(remembered.of(use, options)))
      if ('unreadable' in result) {
        keepRaw(o.scene, result)
        return { result, ...spent(), remembered }
      }
      read.push(result)
      if (!result.verdict.pass && host.isFree(use)) break
      if (spent().halt) break
    }
  } finally {
    // A verifier only looks; and what it looked with must not stay in the session's work.
    await base.away()
  }
  return { result: combineVerdicts(read), ...spent(), remembered }
}

/** Whoever reads the halt wants to see what could not be read, whichever verifier it came from. */
function keepRaw({ places, tick, deps }: Scene, { raw }: UnreadableVerdict): void {
  if (raw.trim() !== '') writeAtomic(outputFile(places, tick, 'verdict.txt'), maskSecrets(deps.env)(raw))
}

/** What needs no session to be judged. */
function byRule(work: Work, made: Made): ReadVerdict | null {
  const fail = (reason: string, next_hint: string): ReadVerdict => ({
    verdict: { pass: false, score: 0, reasons: [reason], next_hint },
    warnings: [],
  })
  if (made.artifact === '') {
    return fail('The session left no artifact.', 'Write the artifact to the file named in AUTOMATON_OUTPUT.')
  }
  if (work.phase === 'implement' && made.changed === false) {
    const hint = 'No file was changed last time. Make the change that the brief asks for.'
    return fail('Nothing changed since the task entered implement.', hint)
  }
  return null
}

function contexts({ scene, site, work, made, journalist }: Parameters<typeof verify>[0], base: LaidBase) {
  const { deps, places, config } = scene
  const mask = maskSecrets(deps.env)
  let session: WatchedOutcome | null = null
  let halt: Halt | null = null
  const task = readTask(deps.project, work.task)
  const ctx: Omit<VerifyContext, 'memory' | 'remember'> = {
    loop: places.name,
    project: deps.project.root,
    log: deps.progress,
    signal: deps.signal,
    task: work.task,
    phase: work.phase,
    worktree: site.cwd,
    acceptanceCriteria: [
      ...config.acceptance_criteria,
      ...(task && 'phase' in task ? task.acceptance_criteria : []),
    ],
    artifact: made.artifact,
    diff: made.diff,
    readVerdict,
    async session(role) {
      await base.away()
      const values = { artifact_content: made.artifact, diff: made.diff }
      session = await watchedSession({ scene, site, work, role, values, hint: '', journalist })
      halt ??= caughtAt(scene, session)
      if (session.failure) throw new SessionFailed(role, session.failure, halt)
      return { ...session.report, output: session.output }
    },
    // The program is a person's, but the code that it tests is the agent's.
    async run(argv, options) {
      await base.lay(options?.fromBase ?? [])
      const spec = { scene, site, work, role: 'verify', journalist } as const
      const env = sessionEnv({
        env: deps.env,
        allowed: config.harness.env,
        extra: { AUTOMATON_RUN_ID: scene.run, AUTOMATON_IN_TICK: places.name },
      })
      using contained = contain(scene, site, { argv, env, writes: [] })
      const { result, ...caught } = await watched(spec, () =>
        exec({
          argv: contained.argv,
          cwd: site.cwd,
          env: { ...env, ...contained.env },
          timeoutMs: (options?.timeoutSeconds ?? defaultRunSeconds) * 1000,
          signal: deps.signal,
          onSpawn: (who) => journalist.spawned('verify', who),
          runId: scene.run,
        }),
      )
      if (result.lives) throw errors.sessionLives(places.name)
      halt ??= caughtAt(scene, caught)
      const output = mask([result.stdout, result.stderr].filter((text) => text !== '').join('\n'))
      const { exitCode, seconds } = result
      return {
        exitCode,
        output,
        stdout: mask(result.stdout),
        seconds,
        timedOut: result.ended === 'timeout',
      }
    },
    hasBase: base.isPossible,
  }
  const contextFor = ({ values, keep }: Recall): VerifyContext => ({
    ...ctx,
    memory: values,
    remember: async (kept, options) => keep(kept, options?.ifPassed === true),
  })
  return { contextFor, spent: () => ({ session, halt }) }
}
