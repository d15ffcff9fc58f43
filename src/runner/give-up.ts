import { AutomatonError } from '../errors.ts'
import type { LoopState } from '../machine/state.ts'
import { load } from '../store/journal.ts'
import type { LoopPlaces } from '../store/layout.ts'
import { clearRun, type RunRecord, writeRun } from '../store/run.ts'
import { abandon } from './abandon.ts'
import type { Journalist } from './journalist.ts'
import { finished } from './recover.ts'
import type { Scene } from './scene.ts'

/**
 * Told to stop, or unable to go on: the work is kept aside, the money charged, run.json taken away. A run.json that is
 * not as it was written is the session's doing. What fails here is left to the next tick's recovery, which finds it still there.
 */
export async function giveUp(o: {
  scene: Scene
  state: LoopState
  cause: unknown
  journalist: Journalist
}): Promise<void> {
  const { state, cause } = o
  const { places, deps, repo, config, ledger } = o.scene
  try {
    const known = o.journalist.look()
    if (!known) return
    const run = { ...known.run, usage: ledger.usage() }
    if (!known.isKept) restoreRun(places, run)
    const loaded = load(places)
    // A tick whose end is in the log is over, whatever failed after that: what it made must stay where it is.
    if (loaded.kind === 'untracked' || loaded.ahead || finished(places, run)) return
    // Whatever was going on when it was told to stop fails in its own way.
    const interrupted = deps.signal.aborted
    const { seconds } = ledger.spent()
    const setting = { repo, config }
    const lives = cause instanceof AutomatonError && cause.code === 'session_lives'
    const tampered = known.isKept ? [] : ['run.json']
    await abandon({
      places,
      deps,
      setting,
      state,
      run,
      seconds,
      interrupted,
      lives,
      cause: String(cause),
      tampered,
    })
  } catch (error) {
    deps.progress(`cleaning up failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Whatever lies there now, such as a folder, goes. */
function restoreRun(places: LoopPlaces, run: RunRecord): void {
  clearRun(places)
  writeRun(places, run)
}
