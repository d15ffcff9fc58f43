import assert from 'node:assert/strict'
import plugin from './verifier.ts'

/** `automaton plugins check` runs these besides what it asks of every verifier. */
export default {
  async 'hands the end of the output to the next session'() {
    const { verifier } = await plugin.setup({ options: { command: ['npm', 'test'] } })
    const ctx = { run: async () => ({ exitCode: 1, output: 'expected 2, got 3' }) }
    const result = await verifier?.verify(ctx as never)
    assert.ok(result && 'verdict' in result)
    assert.equal(result.verdict.pass, false)
    assert.match(result.verdict.next_hint, /got 3/)
  },
}
