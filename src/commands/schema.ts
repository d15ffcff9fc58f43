import { errors } from '../errors.ts'

/** What has a published schema. */
export const schemaNames = ['loop'] as const

/** The JSON Schema of a file that people write, for editors. Throws `usage`. */
export async function schema(name: string): Promise<Record<string, unknown>> {
  if (name !== 'loop') {
    throw errors.usage(`no schema (${name})`, `there is ${schemaNames.join(', ')}`, 'automaton schema loop')
  }
  const { loopJsonSchema } = await import('../config/json-schema.ts')
  return loopJsonSchema()
}
