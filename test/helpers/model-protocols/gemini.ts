import * as v from 'valibot'
import type { Protocol } from './protocol.ts'

const properties = v.optional(v.looseObject({ properties: v.optional(v.record(v.string(), v.unknown())) }))
const part = v.looseObject({
  text: v.optional(v.string()),
  functionResponse: v.optional(v.looseObject({ response: v.optional(v.unknown()) })),
})
const request = v.looseObject({
  contents: v.array(v.looseObject({ role: v.optional(v.string()), parts: v.array(part) })),
  tools: v.optional(
    v.array(
      v.looseObject({
        functionDeclarations: v.optional(
          v.array(
            v.looseObject({ name: v.string(), parametersJsonSchema: properties, parameters: properties }),
          ),
          [],
        ),
      }),
    ),
    [],
  ),
})

const place = /\/models\/([^/:]+):streamGenerateContent$/

/** Google's generateContent: gemini. */
export const gemini: Protocol = {
  speaks: (path) => place.test(path),
  read(body, path) {
    const { contents, tools } = v.parse(request, body)
    const parts = contents.filter((one) => one.role === 'user').flatMap((one) => one.parts)
    return {
      model: place.exec(path)?.[1] ?? '',
      text: parts.flatMap((one) => one.text ?? []).join('\n'),
      results: parts.filter((one) => one.functionResponse).map((one) => JSON.stringify(one.functionResponse)),
      tools: tools
        .flatMap((one) => one.functionDeclarations)
        .map(({ name, parametersJsonSchema, parameters }) => ({
          name,
          parameters: Object.keys((parametersJsonSchema ?? parameters)?.properties ?? {}),
        })),
    }
  },
  events({ id, text, calls, usage: { input, output, cached } }, { model }) {
    const parts = [
      ...(text === '' ? [] : [{ text }]),
      ...calls.map(({ name, args }) => ({ functionCall: { name, args } })),
    ]
    const whole = {
      candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
      modelVersion: model,
      responseId: id,
      usageMetadata: {
        promptTokenCount: input,
        cachedContentTokenCount: cached,
        candidatesTokenCount: output,
        totalTokenCount: input + output,
      },
    }
    return [`data: ${JSON.stringify(whole)}\n\n`]
  },
  failure: (status, text) => ({
    error: { code: status, message: text, status: kinds[status] ?? 'INTERNAL' },
  }),
}

const kinds: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
}
