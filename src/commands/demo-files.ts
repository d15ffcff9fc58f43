import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The program that the demo starts with: letters are lowered, but punctuation and double spaces get through. */
export const brokenSlug = `#!/bin/sh
# Turns a title into a slug: "Hello World" becomes hello-world.
printf '%s' "$1" | tr 'A-Z' 'a-z' | tr ' ' '-'
`

/** Half of the repair. */
export const betterSlug = brokenSlug.replace("tr ' ' '-'", "tr -s ' ' '-'")

/** All of it. */
export const rightSlug = brokenSlug.replace("tr ' ' '-'", "tr -cs 'a-z0-9' '-' | sed 's/^-//; s/-$//'")

const files: Record<string, string> = {
  'README.md': '# slug\n\nTurns titles into slugs. `sh test/run.sh` runs the tests.\n',
  'package.json': `${JSON.stringify({ name: 'slug', version: '1.0.0', private: true, bin: 'bin/slug', scripts: { test: 'sh test/run.sh' } }, null, 2)}\n`,
  'bin/slug': brokenSlug,
  'test/run.sh': `#!/bin/sh
# Prints one line per case and fails when one does.
failed=0
check() {
  got=$(sh bin/slug "$1")
  if [ "$got" = "$2" ]; then echo "ok   $1"; else echo "FAIL $1: $got, not $2"; failed=$((failed + 1)); fi
}
check 'Hello World' 'hello-world'
check 'Two  spaces' 'two-spaces'
check 'What, now?' 'what-now'
echo "$failed of 3 failed"
[ "$failed" = 0 ]
`,
}

/** Writes the demo's repository: a small package whose test fails. */
export function writeDemoRepository(folder: string): void {
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (text.startsWith('#!')) chmodSync(file, 0o755)
  }
}
