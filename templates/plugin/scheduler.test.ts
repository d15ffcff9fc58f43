import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SchedulerContext } from 'automaton'
import plugin from './scheduler.ts'

const folder = mkdtempSync(join(tmpdir(), 'my-scheduler-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

/** Options for what `automaton plugins check` asks of every scheduler: it really installs a unit, and removes it again. */
export const contract = { options: { folder } }

export default {
  async 'knows nothing of a loop that was never installed'() {
    const { scheduler } = await plugin.setup({ options: { folder } })
    const unit = { loop: 'never', project: '/project', script: '/project/tick.sh', intervalSeconds: 60 }
    // This scheduler asks the machine for nothing.
    const ctx = {} as SchedulerContext
    assert.deepEqual(await scheduler?.inspect(unit, ctx), { installed: false, enabled: false, drift: [] })
  },
}
