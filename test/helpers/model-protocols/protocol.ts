/** A tool that a request offers to the model. */
export interface Tool {
  name: string
  /** The names of its parameters; none for a tool that takes plain text. */
  parameters: string[]
  /** Takes plain text instead of parameters. */
  custom?: true
}

/** What a request asks the model, the same for every protocol. */
export interface Ask {
  model: string
  /** Everything that the person's side said, in order; not the system prompt. */
  text: string
  tools: Tool[]
  /** What the tools said that were called so far, in order. */
  results: string[]
}

/** Tokens that an answer pretends to have cost. */
export interface Usage {
  /** All tokens of the prompt, the cached ones included. */
  input: number
  output: number
  /** Tokens of the prompt that came from a cache. */
  cached: number
}

/** What the model answers: text, calls of tools, or both. */
export interface Answer {
  /** Different for every answer of one server. */
  id: string
  text: string
  /** A string for a tool that takes plain text. */
  calls: { name: string; args: Record<string, unknown> | string }[]
  usage: Usage
}

/** One wire format in which coding agents talk to a model; answers are streams of events. */
export interface Protocol {
  /** True for the path of a request that speaks it. */
  speaks(path: string): boolean
  /** Reads a request's body; throws when it is not of this protocol, or does not ask for a stream. */
  read(body: unknown, path: string): Ask
  /** The answer as server-sent events, each with its closing empty line. */
  events(answer: Answer, ask: Ask): string[]
  /** The body of an answer with a failing status. */
  failure(status: number, message: string): unknown
}

/** One event with a name. */
export function named(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
}
