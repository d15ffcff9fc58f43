import { expect, test } from 'bun:test'
import { helpReport, helpText } from '../../src/cli/help.ts'
import { widthOf } from '../../src/cli/layout.ts'
import { widthOf as columnsOf, plain } from '../../src/cli/page.ts'
import { verbs } from '../../src/cli/verbs.ts'

const pages = [60, 80, 120].map((width) => ({ width, colors: plain }))

test('help fits the page, for the overview and for every command', () => {
  for (const page of pages) {
    for (const verb of [null, ...verbs]) {
      for (const line of helpText({ verbs, verb, version: '1.2.3', page }).split('\n')) {
        expect(`${widthOf(line) <= page.width} ${line}`).toBe(`true ${line}`)
      }
    }
  }
})

test('the overview lists every command that has a group, and no hidden one', () => {
  const text = helpText({ verbs, verb: null, version: '1.2.3', page: { width: 80, colors: plain } })
  for (const verb of verbs) expect(text.includes(`\n  ${verb.name} `)).toBe(verb.group !== undefined)
})

test('for programs it is the table of commands, with the options of each', () => {
  const all = helpReport({ verbs, verb: null, version: '1.2.3' })
  expect(all.commands.map(({ name }) => name)).toEqual(verbs.filter((v) => v.group).map((v) => v.name))
  const named = (name: string) => verbs.find((verb) => verb.name === name) ?? null
  const { commands, options } = helpReport({ verbs, verb: named('loop-list'), version: '1.2.3' })
  expect(commands).toMatchObject([
    { name: 'loop-list', alias: 'loops', args: [], group: 'Look', options: [] },
  ])
  expect(options).toContainEqual(expect.objectContaining({ name: '--project', value: 'DIR', repeats: false }))
  const [create] = helpReport({ verbs, verb: named('create-loop'), version: '1.2.3' }).commands
  expect(create?.args).toEqual(['<loop>'])
  expect(create?.options).toContainEqual(expect.objectContaining({ name: '--scope', repeats: true }))
})

test('a command and its alias are named once', () => {
  const names = verbs.flatMap((verb) => (verb.alias ? [verb.name, verb.alias] : [verb.name]))
  expect(new Set(names).size).toBe(names.length)
})

test('the page is as wide as COLUMNS says, within reason', () => {
  expect(columnsOf({})).toBe(80)
  expect(columnsOf({ COLUMNS: '100' })).toBe(100)
  expect(columnsOf({ COLUMNS: '20' })).toBe(60)
  expect(columnsOf({ COLUMNS: 'wide' })).toBe(80)
  expect(columnsOf({ COLUMNS: '100000' })).toBe(200)
})
