/**
 * The records in what a program printed: one JSON text with a list, or with a list at `path`, else one object a line.
 * Throws an error that names the line which is no JSON, or what stands where the list should be.
 */
export function readRecords(text: string, path?: string): unknown[] {
  const whole = text.replace(/^\ufeff/, '').trim()
  if (whole === '') return []
  const parsed = parse(whole)
  if (parsed === undefined) return linesOf(whole, path)
  const found = path === undefined ? parsed.value : at(parsed.value, path)
  if (Array.isArray(found)) return found
  if (path === undefined && isObject(found)) return [found]
  const where = path === undefined ? 'it' : path
  throw new Error(`the program's output: ${where} is ${found === undefined ? 'missing' : 'no list'}`)
}

/** What lies at a path such as `fields.summary`; undefined when there is nothing. Only a record's own keys count. */
export function at(value: unknown, path: string): unknown {
  let found: unknown = value
  for (const key of path.split('.')) {
    if (!isObject(found) || !Object.hasOwn(found, key)) return undefined
    found = Reflect.get(found, key)
  }
  return found
}

function linesOf(text: string, path: string | undefined): unknown[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return []
    const parsed = parse(line)
    if (!parsed)
      throw new Error(`line ${index + 1} of the program's output is not JSON: ${line.trim().slice(0, 100)}`)
    if (path === undefined) return [parsed.value]
    const found = at(parsed.value, path)
    return Array.isArray(found) ? found : []
  })
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
