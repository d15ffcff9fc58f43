import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync } from 'node:fs'
import { freshState } from '../../src/machine/state.ts'
import { noteMissed } from '../../src/runner/missed.ts'
import { placesIn } from '../../src/store/layout.ts'
import { noteScheduled } from '../../src/store/scheduled-log.ts'
import { tempDir } from '../helpers/temp.ts'

const at = (hours: number) => new Date(Date.UTC(2026, 5, 1, hours))

/** A loop that last did something at this hour. */
function loopAt(dir: string, hours: number | null) {
  const places = placesIn(dir, 'nightly')
  const state = freshState('nightly', at(0).toISOString())
  if (hours !== null)
    Object.assign(state, { last_tick_at: at(hours).toISOString(), updated_at: at(hours).toISOString() })
  const said: string[] = []
  const note = (now: number) =>
    noteMissed(places, { state, intervalSeconds: 3600, now: at(now), progress: (line) => said.push(line) })
  return { places, note, said }
}

test('ticks that were missed are said once, since when and how many', () => {
  using dir = tempDir()
  const { places, note } = loopAt(dir.path, 1)
  note(2)
  note(9)
  note(9)
  expect(readFileSync(places.scheduledLog, 'utf8')).toBe(
    '2026-06-01T09:00:00.000Z 7 ticks were missed since 2026-06-01T01:00:00.000Z: the machine slept, or nobody ran the schedule\n',
  )
})

test('a tick that was refused has run, and a loop that never ticked has missed none', () => {
  using dir = tempDir()
  const refused = loopAt(dir.path, 1)
  noteScheduled(refused.places, at(8).toISOString(), 'refused:harness: no agent')
  refused.note(9)
  expect(readFileSync(refused.places.scheduledLog, 'utf8')).not.toContain('missed')
  using other = tempDir()
  loopAt(other.path, null).note(9)
  expect(() => readFileSync(placesIn(other.path, 'nightly').scheduledLog)).toThrow()
})

test('a log that cannot be written keeps no tick from running', () => {
  using dir = tempDir()
  const { places, note, said } = loopAt(dir.path, 1)
  mkdirSync(places.scheduledLog)
  note(9)
  expect(said).toEqual([expect.stringContaining('scheduled.log')])
})
