import type { LoadedModel, ModelServer, ServerKind } from '../../../machine/server.ts'
import { fetchJson } from './fetch-json.ts'
import { llamaCpp } from './llama-cpp.ts'
import { lmStudio } from './lm-studio.ts'
import { ollama } from './ollama.ts'
import { vllm } from './vllm.ts'

/** How one kind of server is asked what it has loaded. */
export interface ServerQuestion {
  /** Asked in this order, after the server's address. The first answer that can be read counts. */
  paths: string[]
  /** The loaded models that answer names, none where none is loaded; null when it is not this kind's answer. */
  read(answer: unknown): LoadedModel[] | null
}

/** What a server said; `models` is empty where it has loaded none, and `problem` says why nothing is known. */
export interface ServerWord {
  url: string
  kind: ServerKind | null
  models: LoadedModel[]
  problem: string | null
}

/** In the order in which an answer is believed where the person named no kind: what only one kind says comes first. */
const questions = { ollama, 'lm-studio': lmStudio, 'llama.cpp': llamaCpp, vllm } satisfies Record<
  ServerKind,
  ServerQuestion
>

/** Asks a local model server for the context that it has loaded. Two seconds a question; never throws for what it meets. */
export async function askServer(server: ModelServer, limitMs = 2000): Promise<ServerWord> {
  const kinds = (Object.keys(questions) as ServerKind[]).filter((kind) => (server.kind ?? kind) === kind)
  const answers = await Promise.all(kinds.map((kind) => askAs(kind, server.url, limitMs)))
  const known =
    answers.find(({ models }) => models.length > 0) ?? answers.find(({ problem }) => problem === null)
  if (known) return { ...known, problem: known.models.length > 0 ? null : 'it has loaded no model' }
  const problem = answers[0]?.problem ?? null
  return { url: server.url, kind: server.kind, models: [], problem }
}

async function askAs(kind: ServerKind, url: string, limitMs: number): Promise<ServerWord> {
  const { paths, read } = questions[kind]
  let problem: string | null = null
  for (const path of paths) {
    const said = await fetchJson(url + path, limitMs)
    const models = 'problem' in said ? null : read(said.json)
    if (models) return { url, kind, models, problem: null }
    problem = 'problem' in said ? said.problem : `${path} did not answer as ${kind} does`
    // Who does not answer at all will not answer the next question.
    if ('unreachable' in said) break
  }
  return { url, kind, models: [], problem }
}
