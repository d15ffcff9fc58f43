import { errors } from '../errors.ts'

/** What a person typed after the verb, each value a string until a verb asks for more. */
export class Input {
  constructor(
    readonly verb: string,
    readonly args: readonly string[],
    private readonly options: ReadonlyMap<string, readonly string[]>,
  ) {}

  /** A positional argument that the table says is needed. */
  arg(index: number): string {
    const value = this.args[index]
    if (value === undefined) throw new Error(`${this.verb} has no argument ${index}`)
    return value
  }

  /** The value of an option, or null when it was not given. */
  text(name: string): string | null {
    return this.options.get(name)?.[0] ?? null
  }

  /** Every value of an option that may be repeated. */
  list(name: string): string[] {
    return [...(this.options.get(name) ?? [])]
  }

  /** True when a switch was given. */
  on(name: string): boolean {
    return this.options.has(name)
  }

  /** A whole number, or null when it was not given. */
  integer(name: string, least: number): number | null {
    const text = this.text(name)
    if (text === null) return null
    const value = Number(text)
    if (/^\d{1,15}$/.test(text) && value >= least) return value
    const what = `bad value (--${name})`
    throw errors.usage(what, `${JSON.stringify(text)} is no whole number from ${least} up`, this.see())
  }

  /** The value of an option that has to be given. */
  needed(name: string, placeholder: string): string {
    const value = this.text(name)
    if (value !== null) return value
    throw errors.usage(
      `missing option (automaton ${this.verb})`,
      `it needs --${name} ${placeholder}`,
      this.see(),
    )
  }

  private see(): string {
    return `automaton ${this.verb} --help`
  }
}
