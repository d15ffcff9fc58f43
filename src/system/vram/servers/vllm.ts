import * as v from 'valibot'
import type { ServerQuestion } from './ask.ts'
import { tokens } from './tokens.ts'

/** vLLM: the models that it serves, each with the context that it was started with. Servers that leave that out are others. */
export const vllm: ServerQuestion = {
  paths: ['/v1/models'],
  read(answer) {
    const parsed = v.safeParse(shape, answer)
    if (!parsed.success) return null
    const known = parsed.output.data.flatMap(({ id, max_model_len }) =>
      max_model_len === null ? [] : [{ model: id, tokens: max_model_len }],
    )
    return known.length === 0 && parsed.output.data.length > 0 ? null : known
  },
}

const shape = v.object({ data: v.array(v.object({ id: v.string(), max_model_len: tokens })) })
