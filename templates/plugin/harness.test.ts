import assert from 'node:assert/strict'
import plugin from './harness.ts'

/** What the agent prints when a run goes well and its last words are `Done.` */
export const contract = { goodRun: 'Done.\n' }

/** `automaton plugins check` runs these besides what it asks of every harness. */
export default {
  async 'leaves the model to the agent where none is set'() {
    const { harness } = await plugin.setup({ options: {} })
    const command = harness?.command({ model: null, prompt: 'Hello.' } as never)
    assert.deepEqual(command, { argv: ['my-agent'], stdin: 'Hello.' })
  },
}
