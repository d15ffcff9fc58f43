import * as v from 'valibot'
import { named, type Protocol } from './protocol.ts'

const block = v.looseObject({
  type: v.string(),
  text: v.optional(v.string()),
  content: v.nullish(v.union([v.string(), v.array(v.looseObject({ text: v.optional(v.string()) }))])),
})
const request = v.looseObject({
  model: v.string(),
  stream: v.literal(true),
  messages: v.array(v.looseObject({ role: v.string(), content: v.union([v.string(), v.array(block)]) })),
  tools: v.optional(
    v.array(
      v.looseObject({
        name: v.string(),
        input_schema: v.optional(
          v.looseObject({ properties: v.optional(v.record(v.string(), v.unknown())) }),
        ),
      }),
    ),
    [],
  ),
})

/** Anthropic's messages: claude. */
export const anthropic: Protocol = {
  speaks: (path) => path.endsWith('/messages'),
  read(body) {
    const { model, messages, tools } = v.parse(request, body)
    const blocks = messages
      .filter((one) => one.role === 'user')
      .flatMap(({ content }) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content))
    return {
      model,
      text: blocks
        .filter((one) => one.type === 'text')
        .map((one) => one.text ?? '')
        .join('\n'),
      results: blocks
        .filter((one) => one.type === 'tool_result')
        .map((one) => textOf('content' in one ? one.content : null)),
      tools: tools.map(({ name, input_schema }) => ({
        name,
        parameters: Object.keys(input_schema?.properties ?? {}),
      })),
    }
  },
  events({ id, text, calls, usage: { input, output, cached } }, { model }) {
    const usage = {
      input_tokens: input - cached,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: cached,
      output_tokens: output,
    }
    const blocks = [
      ...(text === '' ? [] : [{ start: { type: 'text', text: '' }, delta: { type: 'text_delta', text } }]),
      ...calls.map(({ name, args }, index) => ({
        start: { type: 'tool_use', id: `toolu_${id}_${index}`, name, input: {} },
        delta: { type: 'input_json_delta', partial_json: JSON.stringify(args) },
      })),
    ]
    return [
      named('message_start', {
        message: {
          id: `msg_${id}`,
          type: 'message',
          role: 'assistant',
          model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      }),
      ...blocks.flatMap(({ start, delta }, index) => [
        named('content_block_start', { index, content_block: start }),
        named('content_block_delta', { index, delta }),
        named('content_block_stop', { index }),
      ]),
      named('message_delta', {
        delta: { stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use', stop_sequence: null },
        usage,
      }),
      named('message_stop', {}),
    ]
  },
  failure: (status, text) => ({
    type: 'error',
    error: { type: kinds[status] ?? 'api_error', message: text },
  }),
}

const kinds: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function textOf(value: string | { text?: string | undefined }[] | null | undefined): string {
  return typeof value === 'string' ? value : (value ?? []).map((one) => one.text ?? '').join('\n')
}
