import { test } from 'bun:test'
import { existsSync } from 'node:fs'

/** A program from outside that a test drives, named by a `TEST_…` variable. */
export interface Tool {
  /**
   * Like bun's `test`, for tests that drive the tool. Without the tool they are skipped with the reason in their
   * name; with `TEST_REQUIRE_TOOLS` they fail.
   */
  test(name: string, run: () => Promise<void>, timeoutMs: number): void
  /** The program's path. Throws when there is none. */
  path(): string
}

/** The tool that the given variable names. */
export function tool(variable: string): Tool {
  const path = process.env[variable]
  const wanted = path || process.env.TEST_REQUIRE_TOOLS
  return {
    test: (name, run, timeoutMs) =>
      wanted ? test(name, run, timeoutMs) : test.skip(`${name} (skipped: ${variable} names no program)`, run),
    path() {
      if (!path) throw new Error(`${variable} names no program`)
      if (!existsSync(path)) throw new Error(`${path} (${variable}) is missing`)
      return path
    },
  }
}
