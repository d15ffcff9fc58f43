import { describe, expect } from 'bun:test'
import { type Agent, agentProject, agents, leftBehind, startTick } from '../helpers/agents.ts'
import { modelServer, type Rule } from '../helpers/model-server.ts'
import { must } from '../helpers/project.ts'

/** The slowest of them takes 4 seconds for a session on an idle machine. */
const sessionMs = 45_000

const full = process.env.TEST_FULL === '1'

/** What the model does in the three sessions of a tick; the paths are known once the project is. */
function script(worktree: string): [implement: Rule, verify: Rule, orchestrate: Rule] {
  return [
    {
      match: /^# Implement$/m,
      steps: [
        {
          say: 'I write the file. {"pass": false, "score": 0}',
          write: { path: `${worktree}/src/greeting.txt`, content: 'hello from an agent\n' },
          usage: { input: 1000, cached: 400, output: 50 },
        },
        {
          // Words of a tool are no verdict, and where PATH leads is what the session was given.
          shell: 'echo \'{"pass": true}\' && command -v automaton && cat src/greeting.txt',
          usage: { input: 1100, output: 20 },
        },
        { text: 'Wrote src/greeting.txt.', usage: { input: 1200, output: 30 } },
      ],
    },
    {
      match: /^# Verify$/m,
      steps: [
        {
          text: '{"pass": true, "score": 0.9, "reasons": ["it is there"], "next_hint": "review it"}',
          usage: { input: 2000, output: 40 },
        },
      ],
    },
    {
      match: /^# Orchestrate$/m,
      steps: [
        {
          shell: 'automaton transition "$AUTOMATON_TASK" code_review --reason "the verdict passed"',
          usage: { input: 900, output: 20 },
        },
        { text: 'The task goes to code_review.', usage: { input: 950, output: 5 } },
      ],
    },
  ]
}

const spent = { input: 600 + 1100 + 1200 + 2000 + 900 + 950, cached: 400, output: 50 + 20 + 30 + 40 + 20 + 5 }

/** A whole tick: what was made, said, decided and spent. */
async function wholeTick(agent: Agent, o: { sandbox: 'off' | 'required'; brief: string }): Promise<void> {
  const rules: Rule[] = []
  await using server = modelServer(rules)
  using p = await agentProject(agent, { server, ...o })
  const [implement, verify, orchestrate] = script(p.worktree)
  rules.push(implement, verify, orchestrate)
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
  expect(p.git('show', 'automaton/nightly:src/greeting.txt')).toBe('hello from an agent')
  expect(p.git('rev-parse', 'main')).toBe(main)
  expect(p.git('status', '--porcelain')).toBe('?? .automaton/')

  const { cost } = p.state()
  expect(cost.tokens).toBe(spent.input + spent.cached + spent.output)
  const { prices } = agent
  if (prices === null) expect(cost).toMatchObject({ usd: 0, reported: false })
  else {
    const dear = spent.input * prices.input + spent.cached * prices.cached + spent.output * prices.output
    expect(cost.usd * 1e6).toBeCloseTo(dear, 3)
    expect(cost.reported).toBe(true)
  }

  const { text, model } = await server.heard(implement)
  expect(model).toBe(agent.model)
  expect(text).toContain(o.brief.trim())
  const { results } = await server.heard(implement, 2)
  expect(results.at(-1)).toContain('hello from an agent')
  expect(results.at(-1)).toMatch(/\/automaton\b/)
  const graded = (await server.heard(verify)).text
  expect(graded).toContain('+hello from an agent')
  expect(graded).toContain('Wrote src/greeting.txt.')
  expect(leftBehind(p)).toEqual([])
}

for (const agent of agents) {
  describe(agent.name, () => {
    agent.tool.test(
      'a whole tick is worked by its own tools, from a brief of 200 KB',
      () => {
        const brief = `Greet the world.\n${'All work and no play. '.repeat(9500)}\nThe end of the brief.\n`
        expect(brief.length).toBeGreaterThan(200 * 1024)
        return wholeTick(agent, { sandbox: 'off', brief })
      },
      4 * sessionMs,
    )

    if (full || ['claude', 'codex'].includes(agent.name)) {
      agent.tool.test(
        'a whole tick is worked inside the sandbox, with the folders that the adapter names',
        () => wholeTick(agent, { sandbox: 'required', brief: 'Greet the world.\n' }),
        4 * sessionMs,
      )
    }

    agent.tool.test(
      'SIGTERM while the model keeps it waiting ends everything in time',
      async () => {
        const hanging: Rule = {
          match: /^# Implement$/m,
          // What a tool leaves running in the background, in a session of its own, has to go too.
          steps: [{ shell: 'setsid sleep 300 > /dev/null 2>&1 < /dev/null &' }, { hang: true }],
        }
        await using server = modelServer([hanging])
        using p = await agentProject(agent, { server, brief: 'Fix it, please.\n' })
        const tick = startTick(p)
        const first = await Promise.race([server.heard(hanging, 1), tick.exited])
        if (typeof first === 'number') {
          throw new Error(`the tick ended with ${first}: ${await new Response(tick.stderr).text()}`)
        }
        const running = leftBehind(p).join('\n')
        expect(running).toContain(agent.name)
        const asked = performance.now()
        tick.kill('SIGTERM')
        await tick.exited
        // 3 seconds between SIGTERM and SIGKILL, and 2 for all the rest.
        expect(performance.now() - asked).toBeLessThan(5000)
        expect(tick.exitCode).toBe(143)
        expect(leftBehind(p)).toEqual([])
        expect(p.state()).toMatchObject({ iteration_count: 0, consecutive_errors: 0 })
      },
      2 * sessionMs,
    )
  })
}
