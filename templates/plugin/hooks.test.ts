import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import plugin from './hooks.ts'

const folder = mkdtempSync(join(tmpdir(), 'my-hooks-'))
const file = join(folder, 'said.log')
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Options for what `automaton plugins check` tells every listener: one event of each kind. */
export const contract = { options: { file } }

export default {
  async 'says which task was completed'() {
    const { hooks } = await plugin.setup({ options: { file } })
    await hooks?.complete?.({ loop: 'nightly', project: '/project', task: 'fix-login', fix: '' })
    assert.match(readFileSync(file, 'utf8'), /nightly completed fix-login/)
  },
}
