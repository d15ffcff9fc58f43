import * as v from 'valibot'
import { named, type Protocol } from './protocol.ts'

const part = v.looseObject({ text: v.optional(v.string()) })
const request = v.looseObject({
  model: v.string(),
  stream: v.literal(true),
  input: v.array(
    v.looseObject({
      type: v.optional(v.string(), 'message'),
      role: v.optional(v.string()),
      content: v.nullish(v.union([v.string(), v.array(part)])),
      output: v.nullish(v.union([v.string(), v.array(part)])),
    }),
  ),
  tools: v.optional(
    v.array(
      v.looseObject({
        type: v.string(),
        name: v.optional(v.string()),
        parameters: v.optional(v.looseObject({ properties: v.optional(v.record(v.string(), v.unknown())) })),
      }),
    ),
    [],
  ),
})

/** OpenAI's responses: codex. */
export const responses: Protocol = {
  speaks: (path) => path.endsWith('/responses'),
  read(body) {
    const { model, input, tools } = v.parse(request, body)
    return {
      model,
      text: input
        .filter((one) => one.role === 'user')
        .map((one) => textOf(one.content))
        .join('\n'),
      results: input.filter((one) => one.type.endsWith('_call_output')).map((one) => textOf(one.output)),
      tools: tools.flatMap(({ type, name, parameters }) =>
        name === undefined
          ? []
          : [
              {
                name,
                parameters: Object.keys(parameters?.properties ?? {}),
                ...(type === 'custom' ? { custom: true as const } : {}),
              },
            ],
      ),
    }
  },
  events({ id, text, calls, usage: { input, output, cached } }) {
    const said = text === '' ? [] : [message(id, text)]
    const items = [...said, ...calls.map((call, index) => callItem(`${id}_${index}`, call))]
    return [
      named('response.created', { response: { id } }),
      ...items.map((item, index) => named('response.output_item.done', { output_index: index, item })),
      named('response.completed', {
        response: {
          id,
          usage: {
            input_tokens: input,
            input_tokens_details: { cached_tokens: cached },
            output_tokens: output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: input + output,
          },
        },
      }),
    ]
  },
  failure: (status, text) => ({
    error: { message: text, type: 'scripted', code: String(status), param: null },
  }),
}

function message(id: string, text: string) {
  return {
    type: 'message',
    id: `msg_${id}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
  }
}

function callItem(id: string, { name, args }: Parameters<Protocol['events']>[0]['calls'][number]) {
  const call = { id: `fc_${id}`, call_id: `call_${id}`, name, status: 'completed' }
  return typeof args === 'string'
    ? { ...call, type: 'custom_tool_call', input: args }
    : { ...call, type: 'function_call', arguments: JSON.stringify(args) }
}

function textOf(value: string | { text?: string | undefined }[] | null | undefined): string {
  return typeof value === 'string' ? value : (value ?? []).map((one) => one.text ?? '').join('\n')
}
