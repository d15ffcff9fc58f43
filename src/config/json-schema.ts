import { loopSchema } from './schema.ts'

/** The JSON Schema of `loop.json` for editors. The converter is loaded only when it is asked for. */
export async function loopJsonSchema(): Promise<Record<string, unknown>> {
  const { toJsonSchema } = await import('@valibot/to-json-schema')
  // Checks and transforms have no counterpart in JSON Schema; automaton itself enforces them.
  return { ...toJsonSchema(loopSchema, { typeMode: 'input', errorMode: 'ignore' }) }
}
