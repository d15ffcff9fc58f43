import { describe, expect } from 'bun:test'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { binary, type CallOptions, callEnv } from '../helpers/cli.ts'
import { type ModelServer, modelServer, type Rule } from '../helpers/model-server.ts'
import { processesWith } from '../helpers/processes.ts'
import { makeProject, must, type ProjectOptions, type TestProject } from '../helpers/project.ts'
import { tool } from '../helpers/tools.ts'

const opencode = tool('TEST_OPENCODE')

/** One session of opencode takes 6 to 9 seconds on an idle machine. */
const sessionMs = 60_000

/** US dollars for a million tokens, as opencode's configuration names them. */
const prices = { input: 3, output: 15, cache_read: 1 }

const implement: Rule = {
  match: /^# Implement\n/,
  steps: [
    {
      say: 'I write the file.',
      write: { path: 'src/greeting.txt', content: 'hello from opencode\n' },
      usage: { input: 1000, cached: 400, output: 50 },
    },
    { text: 'Wrote src/greeting.txt.', usage: { input: 1200, output: 30 } },
  ],
}

const verify: Rule = {
  match: /^# Verify\n/,
  steps: [
    {
      text: '{"pass": true, "score": 0.9, "reasons": ["src/greeting.txt is there"], "next_hint": "review it"}',
      usage: { input: 2000, output: 40 },
    },
  ],
}

const orchestrate: Rule = {
  match: /^# Orchestrate\n/,
  steps: [
    {
      shell: 'automaton transition "$AUTOMATON_TASK" code_review --reason "the verdict passed"',
      usage: { input: 900, output: 20 },
    },
    { text: 'The task goes to code_review.', usage: { input: 950, output: 5 } },
  ],
}

/** A project whose loop is driven by the real opencode, which asks the scripted model. */
async function openProject(
  o: Pick<ProjectOptions, 'loop'> & { server: ModelServer; brief: string },
): Promise<TestProject & { options: CallOptions }> {
  const config = {
    model: 'mock/m',
    small_model: 'mock/m',
    autoupdate: false,
    share: 'disabled',
    permission: 'allow',
    provider: {
      mock: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${o.server.url}/v1`, apiKey: 'loopback' },
        models: { m: { cost: prices, limit: { context: 200_000, output: 8000 } } },
      },
    },
  }
  const variables = {
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
  }
  const harness = {
    use: 'opencode',
    command: null,
    env: Object.keys(variables),
    timeout_seconds: 120,
    idle_seconds: 60,
  }
  const p = await makeProject({ task: false, loop: { ...o.loop, harness } })
  const bin = join(p.home, 'agents')
  const tmp = join(p.home, 'tmp')
  for (const dir of [bin, tmp, join(p.home, '.automaton')]) mkdirSync(dir, { recursive: true })
  symlinkSync(opencode.path(), join(bin, 'opencode'))
  // Whatever memory this machine has must not cut the prompts.
  writeFileSync(join(p.home, '.automaton', 'config.md'), 'backend: remote\n')
  await must(p.call(['create-task', 'fix-it', '--brief', '-'], { stdin: o.brief }))
  const env = { ...variables, PATH: `${bin}:${process.env.PATH}`, TMPDIR: tmp }
  return Object.assign(p, { options: { cwd: p.root, home: p.home, env, timeoutMs: 3 * sessionMs } })
}

/** Processes that a tick of this project left behind; its HOME is in the environment of each. */
function left(p: TestProject): string[] {
  return processesWith(`HOME=${p.home}`)
}

describe('opencode', () => {
  opencode.test(
    'a whole tick is worked by its own tools, and what it cost is summed to the cent',
    async () => {
      await using server = modelServer([implement, verify, orchestrate])
      using p = await openProject({ server, brief: 'Greet the world in src/greeting.txt.\n' })
      const main = p.git('rev-parse', 'main')
      const call = await must(p.call(['tick', p.loop, '--json'], p.options))
      expect(server.surprises).toEqual([])
      expect(call.json()).toMatchObject({
        outcome: 'worked',
        from: 'implement',
        to: 'code_review',
        verdict: { pass: true, score: 0.9 },
        warnings: [],
      })
      expect(p.task()).toMatchObject({ phase: 'code_review', previous_phase: 'implement' })

      expect(p.git('diff', '--name-only', 'main', 'automaton/nightly')).toBe('src/greeting.txt')
      expect(p.git('show', 'automaton/nightly:src/greeting.txt')).toBe('hello from opencode')
      expect(p.git('log', '-1', '--format=%s', 'automaton/nightly')).toBe(
        'automaton(nightly): fix-it implement tick 1',
      )
      expect(p.git('rev-parse', 'main')).toBe(main)
      expect(p.git('status', '--porcelain')).toBe('?? .automaton/')

      const { cost } = p.state()
      expect(cost).toMatchObject({ tokens: 1050 + 1230 + 2040 + 920 + 955, reported: true })
      // A million times the price: input that is not cached × 3, cached × 1, output × 15.
      expect(cost.usd * 1e6).toBeCloseTo(2950 + 4050 + 6600 + 3000 + 2925, 6)

      expect((await server.heard(implement)).text).toContain('Greet the world in src/greeting.txt.')
      const graded = (await server.heard(verify)).text
      expect(graded).toContain('+hello from opencode')
      expect(graded).toContain('Wrote src/greeting.txt.')
      expect((await server.heard(orchestrate)).text).toContain('"pass": true')
      const steps = server.asked.filter((one) => one.rule).map((one) => [one.rule?.match.source, one.step])
      expect(steps).toEqual([
        [implement.match.source, 0],
        [implement.match.source, 1],
        [verify.match.source, 0],
        [orchestrate.match.source, 0],
        [orchestrate.match.source, 1],
      ])
      expect(left(p)).toEqual([])
    },
    4 * sessionMs,
  )

  opencode.test(
    'a brief of 200 KB reaches the model whole',
    async () => {
      const reading: Rule = { match: /^# Implement\n/, steps: [{ text: 'I read it all.' }] }
      await using server = modelServer([reading])
      const brief = `Read this.\n${'All work and no play. '.repeat(9500)}\nThe end of the brief.\n`
      const roles = {
        implement: { prompt: 'loop-implement.md', tier: 128_000, model: null },
        orchestrate: { prompt: 'loop-orchestrate.md', tier: 16_000, model: null, mode: 'rules' },
      }
      using p = await openProject({ server, brief, loop: { roles } })
      // Nothing was changed, so that the tick ends without another session.
      const call = await must(p.call(['tick', p.loop, '--json'], p.options))
      expect(call.json()).toMatchObject({ outcome: 'worked', verdict: { pass: false, score: 0 } })
      const { text } = await server.heard(reading)
      expect(brief.length).toBeGreaterThan(200 * 1024)
      expect(text).toContain(brief.trim())
    },
    2 * sessionMs,
  )

  opencode.test(
    'a refused key is a failed session that names the reason',
    async () => {
      const refusing: Rule = {
        match: /^# Implement\n/,
        steps: [{ fail: { status: 401, message: 'this key was revoked' } }],
      }
      await using server = modelServer([refusing])
      using p = await openProject({ server, brief: 'Fix it, please.\n' })
      const call = await p.call(['tick', p.loop, '--json'], p.options)
      expect(call.code).toBe(4)
      expect(call.json()).toMatchObject({ outcome: 'session_failed', role: 'implement', errorsInARow: 1 })
      expect(call.json().why).toContain('this key was revoked')
      expect(p.state()).toMatchObject({
        iteration_count: 0,
        consecutive_errors: 1,
        halt: { reason: 'human_intervention', detail: 'login' },
      })
      expect(left(p)).toEqual([])
    },
    2 * sessionMs,
  )

  opencode.test(
    'SIGTERM while the model keeps it waiting ends everything in time',
    async () => {
      const hanging: Rule = {
        match: /^# Implement\n/,
        // What a tool leaves running in the background, in a session of its own, has to go too.
        steps: [{ shell: 'setsid sleep 300 > /dev/null 2>&1 &' }, { hang: true }],
      }
      await using server = modelServer([hanging])
      using p = await openProject({ server, brief: 'Fix it, please.\n' })
      const tick = Bun.spawn([binary, 'tick', p.loop, '--json'], {
        cwd: p.root,
        env: callEnv(p.options),
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const first = await Promise.race([server.heard(hanging, 1), tick.exited])
      if (typeof first === 'number') {
        throw new Error(`the tick ended with ${first}: ${await new Response(tick.stderr).text()}`)
      }
      const running = left(p).join('\n')
      expect(running).toContain('opencode run')
      expect(running).toContain('sleep 300')
      const asked = performance.now()
      tick.kill('SIGTERM')
      await tick.exited
      // 3 seconds between SIGTERM and SIGKILL, and 2 for all the rest.
      expect(performance.now() - asked).toBeLessThan(5000)
      expect(tick.exitCode).toBe(143)
      expect(left(p)).toEqual([])
      expect(p.state()).toMatchObject({ iteration_count: 0, consecutive_errors: 0 })
    },
    2 * sessionMs,
  )
})
