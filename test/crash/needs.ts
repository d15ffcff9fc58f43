import { test } from 'bun:test'

/**
 * Like bun's `test`, for tests that need programs of the system. Without them they are skipped with the reason in their
 * name; with `TEST_REQUIRE_TOOLS` they run, and fail.
 */
export function needs(...programs: string[]) {
  const missing = process.platform === 'linux' ? programs.filter((name) => !Bun.which(name)) : ['Linux']
  const runs = missing.length === 0 || process.env.TEST_REQUIRE_TOOLS
  return (name: string, run: () => Promise<void>, timeoutMs: number) =>
    runs ? test(name, run, timeoutMs) : test.skip(`${name} (skipped: no ${missing.join(', ')})`, run)
}
