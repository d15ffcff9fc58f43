import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const head = `#!/bin/sh
# Turns a title into a slug: "Hello World" becomes Hello-World.
`

/**
 * The program that the demo starts with: punctuation and double spaces get through. Nothing but a shell is needed to
 * run it, so that the demo works wherever git does.
 */
export const brokenSlug = `${head}printf '%s-%s\\n' "\${1%% *}" "\${1#* }"
`

/** Half of the repair. */
export const betterSlug = `${head}set -f
IFS=' '
set -- $1
IFS='-'
printf '%s\\n' "$*"
`

/** All of it. */
export const rightSlug = betterSlug.replace("IFS=' '", "IFS=' ,.:;!?'")

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
check 'Hello World' 'Hello-World'
check 'Two  spaces' 'Two-spaces'
check 'What, now?' 'What-now'
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
