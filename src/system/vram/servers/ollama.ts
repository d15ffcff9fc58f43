import * as v from 'valibot'
import type { ServerQuestion } from './ask.ts'
import { tokens } from './tokens.ts'

/** Ollama: the models that are in memory now, each with the context that it was loaded with. Older versions leave that out. */
export const ollama: ServerQuestion = {
  paths: ['/api/ps'],
  read(answer) {
    const parsed = v.safeParse(shape, answer)
    if (!parsed.success) return null
    return parsed.output.models.flatMap(({ name, context_length }) =>
      context_length === null ? [] : [{ model: name, tokens: context_length }],
    )
  },
}

const shape = v.object({ models: v.array(v.object({ name: v.string(), context_length: tokens })) })
