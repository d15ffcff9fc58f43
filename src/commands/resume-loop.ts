import { existsSync, rmSync } from 'node:fs'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { canMove, resumeLoop as resumed } from '../machine/loop.ts'
import type { LoopStatus } from '../machine/state.ts'
import { commit, peek } from '../store/journal.ts'
import { existingLoop, followLoop, withLoop } from './held.ts'

/** What `resume-loop` did. */
export interface ResumeReport {
  loop: string
  status: LoopStatus
  /** True when a pause that a tick had not yet applied was taken back. */
  withdrawn: boolean
}

/** Lets a paused loop go on. Never clears a halt. Throws `wrong_status` and `busy`. */
export async function resumeLoop(app: App, { loop }: { loop: string }): Promise<ResumeReport> {
  const places = existingLoop(app.project(), loop)
  if (peek(places).state?.status === 'running' && existsSync(places.pauseRequest)) {
    rmSync(places.pauseRequest, { force: true })
    return { loop, status: 'running', withdrawn: true }
  }
  return withLoop(app, places, async (state) => {
    if (!canMove(state.status, 'resume')) {
      throw errors.wrongStatus(loop, 'resume', state.status, fixFor(loop, state.status))
    }
    const at = app.clock.iso()
    commit(places, state, resumed(state, at), { type: 'resume', run: null, by: 'human', at, data: {} })
    await followLoop(app, places)
    return { loop, status: 'running', withdrawn: false }
  })
}

function fixFor(loop: string, status: LoopStatus): string {
  if (status === 'halted') return `automaton approve --loop ${loop}`
  return status === 'running' ? `automaton tick ${loop}` : `automaton status ${loop}`
}
