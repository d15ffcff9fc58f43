import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verbs } from '../src/cli/verbs.ts'
import { loopJsonSchema } from '../src/config/json-schema.ts'
import { auditRules } from '../src/machine/audit.ts'
import { freshState } from '../src/machine/state.ts'

const read = (...path: string[]) => readFileSync(join(import.meta.dir, '..', ...path), 'utf8')

test('docs/commands.md has every command and every option', () => {
  const page = read('docs', 'commands.md')
  const listed = verbs.filter((verb) => verb.group)
  const missing = listed.flatMap(({ name, options = [] }) => [
    ...(new RegExp(`\`${name}[ \`]`).test(page) ? [] : [name]),
    ...options
      .filter((option) => !page.includes(`--${option.name}`))
      .map((option) => `${name} --${option.name}`),
  ])
  expect(missing).toEqual([])
})

test('docs/commands.md has every rule of the audit, with its severity', () => {
  const page = read('docs', 'commands.md')
  for (const { name, severity } of auditRules) expect(page).toContain(`| \`${name}\` | ${severity} |`)
})

test('docs/loop-json.md has every key of loop.json', async () => {
  const page = read('docs', 'loop-json.md')
  const named = (key: string) => new RegExp(`\`(?:\\w+\\.)?${key.replace('$', '\\$')}\``).test(page)
  const keys = keysOf(await loopJsonSchema())
  expect(keys.length).toBeGreaterThan(40)
  expect([...new Set(keys)].filter((key) => !named(key) && !page.includes(`## ${key}`))).toEqual([])
})

test('docs/files.md has every field of a loop’s state', () => {
  const page = read('docs', 'files.md')
  const keys = Object.keys(freshState('x', ''))
  expect(keys.filter((key) => !page.includes(`\`${key}\``) && !page.includes(`\`${key}`))).toEqual([])
})

test('links between the pages lead to files that exist', () => {
  const pages = [
    'README.md',
    'docs/commands.md',
    'docs/context.md',
    'docs/files.md',
    'docs/loop-json.md',
    'docs/recipes.md',
    'docs/plugins.md',
    'docs/platforms.md',
    'docs/troubleshooting.md',
  ]
  for (const page of pages) {
    for (const [, target = ''] of read(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)) {
      expect(() => read(page, '..', target)).not.toThrow()
    }
  }
})

/** The names of all properties of a JSON Schema, those of inner objects too. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key !== 'properties') return keysOf(value)
    return [...Object.keys(value), ...Object.values(value).flatMap(keysOf)]
  })
}
