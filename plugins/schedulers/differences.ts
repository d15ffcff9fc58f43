/** What a unit says, by the names of its settings. */
export type Settings = Readonly<Record<string, unknown>>

/** How what is there differs from what automaton would write, a sentence a setting, in the order of the wanted ones. */
export function differences(wanted: Settings, found: Settings): string[] {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(found)])]
  return names
    .filter((name) => !Bun.deepEquals(wanted[name], found[name]))
    .map((name) => {
      if (found[name] === undefined) return `${name} is missing`
      if (wanted[name] === undefined) return `${name} is ${shown(found[name])}, and should not be there`
      return `${name} is ${shown(found[name])}, and not ${shown(wanted[name])}`
    })
}

const longest = 200

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
