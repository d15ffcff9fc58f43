import assert from 'node:assert/strict'
import plugin from './source.ts'

/** `automaton plugins check` runs these besides what it asks of every source. */
export default {
  async 'offers what is open, and nothing that is done'() {
    const { source } = await plugin.setup({ options: { file: 'TODO.md' } })
    const ctx = { readProjectFile: async () => '- [ ] paint the door\n- [x] buy paint\n' }
    const found = await source?.find(ctx as never)
    assert.deepEqual(
      found?.map((item) => 'title' in item && item.title),
      ['paint the door'],
    )
  },
}
