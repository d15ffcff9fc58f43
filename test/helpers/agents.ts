import { afterAll } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { binary, type CallOptions, callEnv } from './cli.ts'
import type { ModelServer } from './model-server.ts'
import { processesWith } from './processes.ts'
import { makeProject, must, type ProjectOptions, type TestProject } from './project.ts'
import { writeFiles } from './repo.ts'
import { type Tool, tool } from './tools.ts'

/** A real coding agent, and how it is pointed at a scripted model. */
export interface Agent {
  /** What `harness.use` names, and its program. */
  name: string
  tool: Tool
  /** The model that the loop pins. */
  model: string
  /** Variables of the person who uses it; the adapter has to name them. */
  env(server: string): Record<string, string>
  /** Its settings, below HOME. */
  files?(server: string): Record<string, string>
  /** US dollars for a million tokens that went in, came from a cache, and came out; null where it names no price. */
  prices: { input: number; cached: number; output: number } | null
}

const providers = (server: string) => `
model_provider = "scripted"
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${server}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
`

/** The agents that npm has, besides opencode. */
export const agents: readonly Agent[] = [
  {
    name: 'claude',
    tool: tool('TEST_CLAUDE'),
    model: 'claude-opus-5-5',
    env: (server) => ({
      ANTHROPIC_BASE_URL: server,
      ANTHROPIC_API_KEY: 'loopback-fake-key',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_MAX_RETRIES: '1',
    }),
    prices: { input: 4, cached: 0.2, output: 20 },
  },
  {
    name: 'codex',
    tool: tool('TEST_CODEX'),
    model: 'gpt-5.5-codex',
    env: () => ({ OPENAI_API_KEY: 'loopback-fake-key' }),
    files: (server) => ({ '.codex/config.toml': providers(server) }),
    prices: null,
  },
  {
    name: 'gemini',
    tool: tool('TEST_GEMINI'),
    model: 'gemini-2.5-flash',
    env: (server) => ({ GEMINI_API_KEY: 'loopback-fake-key', GOOGLE_GEMINI_BASE_URL: server }),
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        general: { maxAttempts: 1, enableAutoUpdate: false },
      }),
    }),
    prices: null,
  },
  {
    name: 'qwen',
    tool: tool('TEST_QWEN'),
    model: 'scripted',
    env: (server) => ({ OPENAI_API_KEY: 'loopback-fake-key', OPENAI_BASE_URL: `${server}/v1` }),
    files: () => ({
      '.qwen/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'openai' } },
        memory: { enableManagedAutoMemory: false },
      }),
    }),
    prices: null,
  },
  {
    name: 'copilot',
    tool: tool('TEST_COPILOT'),
    model: 'scripted',
    env: (server) => ({
      COPILOT_PROVIDER_BASE_URL: `${server}/v1`,
      COPILOT_PROVIDER_API_KEY: 'loopback-fake-key',
      COPILOT_OFFLINE: 'true',
    }),
    prices: null,
  },
]

/** A project that a real agent works, and the calls with its environment. */
export type AgentProject = TestProject & { options: CallOptions }

/** Makes a project whose loop is driven by the agent, which asks the scripted model. */
export async function agentProject(
  agent: Agent,
  o: {
    server: ModelServer | string
    brief: string
    sandbox?: 'off' | 'required'
    loop?: ProjectOptions['loop']
    timeoutSeconds?: number
  },
): Promise<AgentProject> {
  const role = (prompt: string) => ({ prompt, tier: 128_000, model: agent.model })
  const p = await makeProject({
    task: false,
    loop: {
      harness: {
        use: agent.name,
        command: null,
        env: [],
        writes: [],
        timeout_seconds: o.timeoutSeconds ?? 120,
        idle_seconds: 150,
      },
      roles: {
        implement: role('loop-implement.md'),
        verify: role('loop-verifier.md'),
        orchestrate: { ...role('loop-orchestrate.md'), mode: 'session' },
      },
      blast_radius: { sandbox: o.sandbox ?? 'off' },
      ...o.loop,
    },
  })
  const server = typeof o.server === 'string' ? o.server : o.server.url
  const bin = join(p.home, 'agents')
  const tmp = join(p.home, 'tmp')
  for (const dir of [bin, tmp]) mkdirSync(dir, { recursive: true })
  install(agent, bin)
  // Whatever memory this machine has must not cut the prompts.
  writeFiles(p.home, { ...agent.files?.(server), '.automaton/config.md': 'backend: remote\n' })
  if (agent.name === 'copilot') shareUnpacked(p.home)
  await must(p.call(['create-task', 'fix-it', '--brief', '-'], { stdin: o.brief }))
  const env = { ...agent.env(server), PATH: `${bin}:${process.env.PATH}`, TMPDIR: tmp }
  return Object.assign(p, { options: { cwd: p.root, home: p.home, env, timeoutMs: 180_000 } })
}

/** Starts a tick that the test ends by a signal. */
export function startTick(p: AgentProject) {
  return Bun.spawn([binary, 'tick', p.loop, '--json'], {
    cwd: p.root,
    env: callEnv(p.options),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
}

/** Processes that a tick of this project left behind; its HOME is in the environment of each. */
export function leftBehind(p: TestProject): string[] {
  return processesWith(`HOME=${p.home}`)
}

function install(agent: Agent, bin: string): void {
  const path = agent.tool.path()
  const file = join(bin, agent.name)
  if (!path.endsWith('.js')) {
    symlinkSync(path, file)
    return
  }
  writeFileSync(file, `#!/bin/sh\nexec node '${path}' "$@"\n`)
  chmodSync(file, 0o755)
}

let unpacked: string | null = null

afterAll(() => {
  if (unpacked !== null) rmSync(unpacked, { recursive: true, force: true })
  unpacked = null
})

/** Copilot unpacks 235 MB into each new HOME: once is enough. */
function shareUnpacked(home: string): void {
  unpacked ??= mkdtempSync(join(tmpdir(), 'automaton-copilot-'))
  mkdirSync(join(home, '.cache'), { recursive: true })
  symlinkSync(unpacked, join(home, '.cache', 'copilot'))
}
