/** The kinds of local model servers that can be asked. */
export const serverKinds = ['ollama', 'llama.cpp', 'lm-studio', 'vllm'] as const

/** One of {@link serverKinds}. */
export type ServerKind = (typeof serverKinds)[number]

/** A model server that a person named in `config.md`. */
export interface ModelServer {
  /** Null: the person did not say, so it is asked as each kind. */
  kind: ServerKind | null
  /** Its address, without a slash at the end. */
  url: string
}

/** A model that a server has loaded, by its opaque id, and the context that it was loaded with. */
export interface LoadedModel {
  model: string
  tokens: number
}
