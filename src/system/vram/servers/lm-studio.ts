import * as v from 'valibot'
import type { LoadedModel } from '../../../machine/server.ts'
import type { ServerQuestion } from './ask.ts'
import { tokens } from './tokens.ts'

/** LM Studio: its own interface says what is loaded, in two versions; the one that is like OpenAI's says nothing of it. */
export const lmStudio: ServerQuestion = {
  paths: ['/api/v1/models', '/api/v0/models'],
  read(answer) {
    const parsed = v.safeParse(v.union([first, zeroth]), answer)
    if (!parsed.success) return null
    if ('models' in parsed.output) return parsed.output.models.flatMap(loadedFirst)
    return parsed.output.data.flatMap(loadedZeroth)
  },
}

const zeroth = v.object({
  data: v.array(
    v.object({ id: v.string(), type: v.string(), state: v.string(), loaded_context_length: tokens }),
  ),
})

const first = v.object({
  models: v.array(
    v.object({
      key: v.string(),
      type: v.string(),
      loaded_instances: v.array(v.object({ id: v.string(), config: v.object({ context_length: tokens }) })),
    }),
  ),
})

/** A model for embeddings writes nothing, and its context is short. */
function loadedFirst({ key, type, loaded_instances }: v.InferOutput<typeof first>['models'][number]) {
  if (type.startsWith('embedding')) return []
  return loaded_instances.flatMap(({ id, config }) =>
    modelOf(id === key || id.startsWith(`${key}:`) ? key : id, config.context_length),
  )
}

function loadedZeroth(model: v.InferOutput<typeof zeroth>['data'][number]) {
  if (model.state !== 'loaded' || model.type.startsWith('embedding')) return []
  return modelOf(model.id, model.loaded_context_length)
}

function modelOf(model: string, context: number | null): LoadedModel[] {
  return context === null ? [] : [{ model, tokens: context }]
}
