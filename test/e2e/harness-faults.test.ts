import { describe, expect } from 'bun:test'
import { type Agent, type AgentProject, agentProject, agents, leftBehind } from '../helpers/agents.ts'
import { modelServer, type Rule } from '../helpers/model-server.ts'

/** Some try again for minutes, whatever they are told. */
const slow = new Set(['gemini', 'qwen', 'copilot'])
const full = process.env.TEST_FULL === '1'
const tested = agents.filter((agent) => full || !slow.has(agent.name))

/** These never give up by themselves: the limit of the session ends them. */
const endless: Record<string, string[]> = { codex: ['refused'], qwen: ['429'] }

/** What a fault is to the loop. */
interface Expected {
  code: number
  halt: string | null
  says: RegExp
}

const faults: Record<string, { status: number } & Expected> = {
  '401': { status: 401, code: 4, halt: 'login', says: /401|scripted fault/ },
  '429': { status: 429, code: 5, halt: null, says: /429|scripted fault/ },
  '500': { status: 500, code: 5, halt: null, says: /500|scripted fault|high demand/ },
}

async function tickFails(p: AgentProject, { code, halt, says }: Expected): Promise<void> {
  const call = await p.call(['tick', p.loop, '--json'], p.options)
  expect(call.json()).toMatchObject({ outcome: 'session_failed', role: 'implement', errorsInARow: 1 })
  expect(call.json().why).toMatch(says)
  expect(call.code).toBe(code)
  expect(p.state()).toMatchObject({
    iteration_count: 0,
    consecutive_errors: 1,
    halt: halt === null ? null : { reason: 'human_intervention', detail: halt },
  })
  expect(leftBehind(p)).toEqual([])
}

function failing(fail: { status: number; message: string; body?: unknown }): Rule {
  return { match: /^# Implement$/m, steps: [{ fail }] }
}

function limitsOf({ name }: Agent, fault: string): { timeoutSeconds: number; says?: RegExp } {
  if (!endless[name]?.includes(fault)) return { timeoutSeconds: 150 }
  return { timeoutSeconds: name === 'codex' ? 4 : 25, says: /429|ran past harness.timeout_seconds/ }
}

for (const agent of tested) {
  describe(agent.name, () => {
    for (const [name, { status, ...expected }] of Object.entries(faults)) {
      agent.tool.test(
        `a model that answers ${name} is a failed session that says so`,
        async () => {
          await using server = modelServer([failing({ status, message: 'a scripted fault' })])
          const { timeoutSeconds, says = expected.says } = limitsOf(agent, name)
          using p = await agentProject(agent, { server, brief: 'Fix it, please.\n', timeoutSeconds })
          await tickFails(p, { ...expected, says })
        },
        200_000,
      )
    }

    agent.tool.test(
      'a model that nobody can reach is a failed session',
      async () => {
        const server = modelServer([])
        const { url } = server
        await server[Symbol.asyncDispose]()
        const { timeoutSeconds, says = /./ } = limitsOf(agent, 'refused')
        using p = await agentProject(agent, { server: url, brief: 'Fix it, please.\n', timeoutSeconds })
        await tickFails(p, { code: 5, halt: null, says })
      },
      200_000,
    )
  })
}

const codex = agents.find(({ name }) => name === 'codex')
codex?.tool.test(
  'codex: a limit of its plan is no failure: the loop waits and says until when',
  async () => {
    // It tells the minute, and nothing below.
    const until = Math.floor(Date.now() / 60_000) * 60 + 3 * 3600
    const error = { type: 'usage_limit_reached', message: 'the limit', plan_type: 'plus', resets_at: until }
    await using server = modelServer([failing({ status: 429, message: '', body: { error } })])
    using p = await agentProject(codex, { server, brief: 'Fix it, please.\n' })
    const call = await p.call(['tick', p.loop, '--json'], p.options)
    expect(call.json()).toMatchObject({
      outcome: 'rate_limited',
      until: new Date(until * 1000).toISOString(),
      why: expect.stringContaining('usage limit'),
    })
    expect(call.code).toBe(0)
    expect(p.state()).toMatchObject({ iteration_count: 0, consecutive_errors: 0, status: 'running' })
  },
  60_000,
)
