import { anthropic } from './model-protocols/anthropic.ts'
import { chat } from './model-protocols/chat.ts'
import { gemini } from './model-protocols/gemini.ts'
import type { Answer, Ask, Protocol, Usage } from './model-protocols/protocol.ts'
import { responses } from './model-protocols/responses.ts'

/** Every protocol that the server answers in; another one is one more file beside {@link chat}. */
const protocols: Protocol[] = [chat, responses, anthropic, gemini]

/** The tools by which agents write a file, by name, with what they are called with. */
const writers: Record<string, (path: string, content: string) => Answer['calls'][number]['args']> = {
  write: (filePath, content) => ({ filePath, content }),
  Write: (file_path, content) => ({ file_path, content }),
  write_file: (file_path, content) => ({ file_path, content }),
  create: (path, file_text) => ({ path, file_text }),
  apply_patch: (path, content) => {
    const lines = content.replace(/\n$/, '').split('\n')
    return [
      '*** Begin Patch',
      `*** Add File: ${path}`,
      ...lines.map((line) => `+${line}`),
      '*** End Patch',
    ].join('\n')
  },
}

/** The tools by which agents run a command line, by name, with the name of its parameter. */
const shells: Record<string, string> = {
  bash: 'command',
  Bash: 'command',
  run_shell_command: 'command',
  exec_command: 'cmd',
}

/** What one answer does. */
export type Step = {
  /** Text that comes before a tool call. */
  say?: string
  usage?: Partial<Usage>
} & (
  | { write: { path: string; content: string } }
  | { shell: string }
  | { tool: string; args: Record<string, unknown> }
  | { text: string }
  /** `body` stands in the place of the protocol's own. */
  | { fail: { status: number; message: string; body?: unknown; headers?: Record<string, string> } }
  /** The answer begins and never ends. */
  | { hang: true }
)

/** What a conversation is answered; the first rule that matches counts. */
export interface Rule {
  /** Looked for in what the person's side said. */
  match: RegExp
  /** The n-th tool result leads to step n; the last step stays. */
  steps: Step[]
}

/** One request that came, and how it was answered. */
export interface Asked extends Ask {
  path: string
  authorization: string | null
  /** The rule that matched; null for requests without tools, which get a title, and for those without a rule. */
  rule: Rule | null
  /** The step of the rule that was played. */
  step: number
}

/** A scripted model on this machine's loopback, inside the test's own process. */
export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, to which a protocol's own path is added. */
  url: string
  /** Every request, in the order of arrival. */
  asked: Asked[]
  /** Requests that no rule covered or that could not be read; empty in a good test. */
  surprises: string[]
  /** The first request that a step of the rule answers, also when it is still to come. */
  heard(rule: Rule, step?: number): Promise<Asked>
}

/** Starts the server. It keeps no conversation: the step follows from each request alone, so retries are safe. */
export function modelServer(rules: Rule[]): ModelServer {
  const asked: Asked[] = []
  const surprises: string[] = []
  const waiting: { rule: Rule; step: number; resolve: (asked: Asked) => void }[] = []
  const surprise = (protocol: Protocol, status: number, message: string) => {
    surprises.push(message)
    return Response.json(protocol.failure(status, message), { status })
  }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname
      const protocol = protocols.find((one) => request.method === 'POST' && one.speaks(path))
      if (!protocol) return surprise(chat, 404, `${request.method} ${path} is not scripted`)
      let ask: Ask
      try {
        ask = protocol.read(await request.json(), path)
      } catch (error) {
        return surprise(protocol, 400, `${path}: ${error instanceof Error ? error.message : String(error)}`)
      }
      const rule = ask.tools.length === 0 ? null : (rules.find((one) => one.match.test(ask.text)) ?? null)
      const step = Math.min(ask.results.length, (rule?.steps.length ?? 1) - 1)
      const authorization = request.headers.get('authorization') ?? request.headers.get('x-api-key')
      const entry: Asked = { ...ask, path, authorization, rule, step }
      asked.push(entry)
      for (const one of waiting) if (one.rule === rule && one.step === step) one.resolve(entry)
      const played: Step | undefined = ask.tools.length === 0 ? { text: 'A title' } : rule?.steps[step]
      if (!played) return surprise(protocol, 400, `no rule matches: ${ask.text.slice(0, 200)}`)
      const answer = answerOf(played, ask, `answer-${asked.length}`)
      if (typeof answer === 'string') return surprise(protocol, 400, answer)
      return respond({ protocol, step: played, answer, ask })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    surprises,
    heard(rule, step = 0) {
      const entry = asked.find((one) => one.rule === rule && one.step === step)
      if (entry) return Promise.resolve(entry)
      const { promise, resolve } = Promise.withResolvers<Asked>()
      waiting.push({ rule, step, resolve })
      return promise
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}

/** The step in the words of the agent that asks, by the tools that it offers; a string says what it lacks. */
function answerOf(step: Step, ask: Ask, id: string): Answer | string {
  const usage = { input: 100, output: 10, cached: 0, ...step.usage }
  if ('text' in step) return { id, text: step.text, calls: [], usage }
  const call = callOf(step, ask)
  if (typeof call === 'string') return call
  return { id, text: step.say ?? '', calls: call ? [call] : [], usage }
}

function callOf(step: Step, { tools }: Ask): Answer['calls'][number] | string | null {
  const offered = tools.map((tool) => tool.name).join(', ')
  if ('tool' in step) return { name: step.tool, args: step.args }
  if ('write' in step) {
    const tool = tools.find((one) => one.name in writers)
    const args = writers[tool?.name ?? '']?.(step.write.path, step.write.content)
    if (!tool || args === undefined) return `no tool that writes a file among ${offered}`
    return { name: tool.name, args }
  }
  if ('shell' in step) {
    const tool = tools.find((one) => one.name in shells)
    const command = shells[tool?.name ?? '']
    if (!tool || !command) return `no tool that runs a command among ${offered}`
    const more = {
      ...(tool.parameters.includes('description') ? { description: 'Runs the script' } : {}),
      ...(tool.parameters.includes('is_background') ? { is_background: false } : {}),
    }
    return { name: tool.name, args: { [command]: step.shell, ...more } }
  }
  return null
}

function respond(o: { protocol: Protocol; step: Step; answer: Answer; ask: Ask }): Response {
  const { protocol, step, answer, ask } = o
  if ('fail' in step) {
    const { status, message, body, headers = {} } = step.fail
    return Response.json(body ?? protocol.failure(status, message), { status, headers })
  }
  const hangs = 'hang' in step
  const events = protocol.events(answer, ask)
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder()
      for (const event of hangs ? [': wait\n\n'] : events) controller.enqueue(encoder.encode(event))
      if (!hangs) controller.close()
    },
  })
  return new Response(stream, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' },
  })
}
