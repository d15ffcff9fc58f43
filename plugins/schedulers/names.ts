/** Returns the path. Throws for control characters: no unit has a place for them that every reader reads alike. */
export function plainPath(path: string): string {
  for (const char of path) {
    if (char < ' ' || char === '\x7f') {
      throw new Error(`the path ${JSON.stringify(path)} has a control character, which no unit can hold`)
    }
  }
  return path
}

/** Whose unit goes by a name. */
export type Owner = 'nobody' | 'us' | 'other'

/**
 * The name of a loop's unit: the short one, unless another project has taken it; then the one with the hash of the
 * project. A unit of ours keeps its name, whatever has become of the other one.
 */
export async function unitName(o: {
  short: string
  withHash: string
  owner(name: string): Promise<Owner>
}): Promise<string> {
  const owner = await o.owner(o.short)
  if (owner === 'us') return o.short
  if (owner === 'nobody' && (await o.owner(o.withHash)) === 'nobody') return o.short
  return o.withHash
}
