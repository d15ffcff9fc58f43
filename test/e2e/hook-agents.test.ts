import { describe, expect } from 'bun:test'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentProject, agents } from '../helpers/agents.ts'
import { modelServer, type Rule } from '../helpers/model-server.ts'
import { must } from '../helpers/project.ts'

const rejected = '{"pass": false, "score": 0.1, "reasons": ["not yet"], "next_hint": ""}'
const brief = 'Greet the world.\n'

/** Into the file in HOME goes what `automaton hook` prints; claude's adapter hands over the same by itself. */
for (const [name, file] of [
  ['claude', '.claude/settings.json'],
  ['gemini', '.gemini/settings.json'],
] as const) {
  const agent = agents.find((one) => one.name === name)
  if (!agent) throw new Error(`there is no agent ${name}`)
  describe(`the hook of the real ${name}`, () => {
    agent.tool.test(
      'is asked before an edit: out of scope is refused before it happens, in scope goes through',
      async () => {
        const rules: Rule[] = []
        await using server = modelServer(rules)
        const loop = { blast_radius: { sandbox: 'off', file_scope: ['src'] } }
        using p = await agentProject(agent, { server, brief, sandbox: 'off' })
        p.configure({ ...loop, roles: { orchestrate: { mode: 'rules' } } })
        if (name !== 'claude') {
          const settings = JSON.parse((await must(p.call(['hook', name]))).stdout)
          const known = agent.files?.(server.url)[file]
          mkdirSync(join(p.home, file, '..'), { recursive: true })
          writeFileSync(join(p.home, file), JSON.stringify({ ...JSON.parse(known ?? '{}'), ...settings }))
        }
        const implement: Rule = {
          match: /^# Implement$/m,
          steps: [
            { write: { path: `${p.worktree}/outside.txt`, content: 'out of scope\n' } },
            { write: { path: `${p.worktree}/src/inside.txt`, content: 'in scope\n' } },
            { text: 'Wrote one of two.' },
          ],
        }
        rules.push(implement, { match: /^# Verify$/m, steps: [{ text: rejected }] })
        const call = await must(p.call(['tick', p.loop, '--json'], p.options))
        expect(call.json()).toMatchObject({ outcome: 'worked', verdict: { pass: false } })
        // The refusal is in what the model was told, so the hook was asked and its answer counted.
        const { results } = await server.heard(implement, 1)
        expect(results.join('\n')).toContain('automaton refused this edit')
        expect(results.join('\n')).toContain("outside.txt is outside the loop's file_scope")
        expect(existsSync(join(p.worktree, 'outside.txt'))).toBe(false)
        expect(p.git('show', 'automaton/nightly:src/inside.txt')).toBe('in scope')
      },
      120_000,
    )

    agent.tool.test(
      'that a person set up and that cannot be run lets no edit through',
      async () => {
        const rules: Rule[] = []
        await using server = modelServer(rules)
        using p = await agentProject(agent, { server, brief, sandbox: 'off' })
        p.configure({ roles: { orchestrate: { mode: 'rules' } } })
        const text = (await must(p.call(['hook', name]))).stdout
        const settings = JSON.parse(text.replaceAll(/'[^']*' hook-check/g, `'${p.home}/gone' hook-check`))
        const known = agent.files?.(server.url)[file]
        mkdirSync(join(p.home, file, '..'), { recursive: true })
        writeFileSync(join(p.home, file), JSON.stringify({ ...JSON.parse(known ?? '{}'), ...settings }))
        const implement: Rule = {
          match: /^# Implement$/m,
          steps: [
            { write: { path: `${p.worktree}/src/greeting.txt`, content: 'hello\n' } },
            { text: 'Could not.' },
          ],
        }
        rules.push(implement)
        await must(p.call(['tick', p.loop, '--json'], p.options))
        await server.heard(implement, 1)
        expect(existsSync(join(p.worktree, 'src/greeting.txt'))).toBe(false)
      },
      120_000,
    )
  })
}
