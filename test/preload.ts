// Tests never see the developer's HOME, git configuration, agent markers or keys.
import { afterAll } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const home = mkdtempSync(join(tmpdir(), 'automaton-test-home-'))
const kept = new Set(['PATH', 'LANG', 'TMPDIR', 'TERM', 'CI', 'SystemRoot', 'ComSpec', 'PATHEXT'])
for (const name of Object.keys(process.env)) {
  if (!kept.has(name) && !name.startsWith('TEST_')) delete process.env[name]
}
process.env.HOME = home
process.env.AUTOMATON_HOME = join(home, '.automaton')
afterAll(() => rmSync(home, { recursive: true, force: true }))
