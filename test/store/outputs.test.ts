import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { collectGarbage, outputFile } from '../../src/store/outputs.ts'
import { makeLoop, makeStore } from './fixtures.ts'

function outputs(names: string[]) {
  const store = makeStore()
  const { places } = makeLoop(store.project)
  mkdirSync(places.outputs)
  for (const name of names) writeFileSync(join(places.outputs, name), '')
  return {
    places,
    left: () => readdirSync(places.outputs).sort(),
    [Symbol.dispose]: () => store[Symbol.dispose](),
  }
}

test('a tick’s file carries its number', () => {
  using o = outputs([])
  expect(outputFile(o.places, 7, 'verdict.json')).toBe(join(o.places.outputs, 'tick7-verdict.json'))
})

test('the last groups stay, counted down from the newest number, with everything that is no tick’s', () => {
  using o = outputs([
    'tick1-a',
    'tick9-a',
    'tick10-a',
    'tick10-b',
    'tick12-a',
    'notes',
    'tick-x',
    'xtick1-a',
    'tick3',
  ])
  expect(collectGarbage(o.places, 3)).toEqual([])
  expect(o.left()).toEqual(['notes', 'tick-x', 'tick10-a', 'tick10-b', 'tick12-a', 'tick3', 'xtick1-a'])
})

test('folders of old ticks go too, and links go without what they point to', () => {
  using o = outputs(['tick9-a'])
  mkdirSync(join(o.places.outputs, 'tick1-dir', 'deep'), { recursive: true })
  symlinkSync(o.places.dir, join(o.places.outputs, 'tick2-link'))
  expect(collectGarbage(o.places, 1)).toEqual([])
  expect(o.left()).toEqual(['tick9-a'])
  expect(readdirSync(o.places.dir)).toContain('loop.json')
})

test('nothing is removed when all are kept, or there is nothing', () => {
  using o = outputs(['tick1-a', 'tick99-a'])
  expect([collectGarbage(o.places, 0), collectGarbage(o.places, -1)]).toEqual([[], []])
  expect(o.left()).toHaveLength(2)
  rmSync(o.places.outputs, { recursive: true })
  expect(collectGarbage(o.places, 1)).toEqual([])
})

test('a number that no tick can have does not sweep the rest away', () => {
  using o = outputs(['tick1-a', 'tick2-a', 'tick99999999999999999999-a'])
  collectGarbage(o.places, 2)
  expect(o.left()).toHaveLength(3)
})

test('what cannot be cleaned up is a warning', () => {
  using o = outputs([])
  rmSync(o.places.outputs, { recursive: true })
  symlinkSync(o.places.dir, o.places.outputs)
  expect(collectGarbage(o.places, 1)).toEqual([`cannot clean up ${o.places.outputs}: it is not a folder`])
})
