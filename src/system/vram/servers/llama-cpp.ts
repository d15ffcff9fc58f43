import * as v from 'valibot'
import type { ServerQuestion } from './ask.ts'
import { tokens } from './tokens.ts'

/** The server of llama.cpp: `n_ctx` is what one of its slots, so one session, has of the context. */
export const llamaCpp: ServerQuestion = {
  paths: ['/props'],
  read(answer) {
    const parsed = v.safeParse(shape, answer)
    if (!parsed.success) return null
    const { default_generation_settings: settings, model_alias: alias, model_path: path } = parsed.output
    const model = alias || (path.split(/[\\/]/).at(-1) ?? '')
    return settings.n_ctx === null ? [] : [{ model, tokens: settings.n_ctx }]
  },
}

const shape = v.object({
  default_generation_settings: v.object({ n_ctx: tokens }),
  model_alias: v.optional(v.string(), ''),
  model_path: v.optional(v.string(), ''),
})
