import * as v from 'valibot'
import type { Answer, Protocol } from './protocol.ts'

const content = v.nullish(
  v.union([v.string(), v.array(v.looseObject({ type: v.string(), text: v.optional(v.string()) }))]),
)
const tool = v.looseObject({
  function: v.looseObject({
    name: v.string(),
    parameters: v.optional(v.looseObject({ properties: v.optional(v.record(v.string(), v.unknown())) })),
  }),
})
const request = v.looseObject({
  model: v.string(),
  stream: v.literal(true),
  messages: v.array(v.looseObject({ role: v.string(), content })),
  tools: v.optional(v.array(tool), []),
})

/** OpenAI's chat completions: opencode, qwen, copilot. */
export const chat: Protocol = {
  speaks: (path) => path.endsWith('/chat/completions'),
  read(body) {
    const { model, messages, tools } = v.parse(request, body)
    const said = (role: string) =>
      messages.filter((one) => one.role === role).map((one) => textOf(one.content))
    return {
      model,
      text: said('user').join('\n'),
      results: said('tool'),
      tools: tools.map(({ function: { name, parameters } }) => ({
        name,
        parameters: Object.keys(parameters?.properties ?? {}),
      })),
    }
  },
  events(answer, ask) {
    const chunk = (delta: object, finish: string | null = null, more: object = {}) =>
      `data: ${JSON.stringify({
        id: answer.id,
        object: 'chat.completion.chunk',
        created: 1,
        model: ask.model,
        choices: [{ index: 0, delta, finish_reason: finish }],
        ...more,
      })}\n\n`
    const { text } = answer
    const calls = callsOf(answer)
    return [
      ...(text === '' ? [] : [chunk({ role: 'assistant', content: text })]),
      ...(calls.length === 0 ? [] : [chunk({ role: 'assistant', tool_calls: calls })]),
      chunk({}, calls.length === 0 ? 'stop' : 'tool_calls', { usage: usageOf(answer) }),
      'data: [DONE]\n\n',
    ]
  },
  failure: (status, message) => ({ error: { message, type: 'scripted', code: String(status), param: null } }),
}

function textOf(value: v.InferOutput<typeof content>): string {
  if (typeof value === 'string') return value
  return (value ?? []).map((part) => part.text ?? '').join('\n')
}

function callsOf({ id, calls }: Answer) {
  return calls.map(({ name, args }, index) => ({
    index,
    id: `call_${id}_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
}

function usageOf({ usage: { input, output, cached } }: Answer) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  }
}
