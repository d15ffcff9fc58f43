import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './compile.ts'
import type { Pinned } from './lock-file.ts'

/** Packages for one system: they bring no text of their licence, and more is linked into them than their own code. */
const perTarget = [
  { prefix: '@oven/bun-', textOf: null, linked: 'https://bun.com/docs/project/license' },
  {
    prefix: '@napi-rs/simple-git-',
    textOf: '@napi-rs/simple-git',
    linked: 'https://github.com/libgit2/libgit2/blob/main/COPYING',
  },
]

/** What goes with a binary: whose work is in it besides automaton's own, and on which terms. */
export function notices(packages: readonly Pinned[]): string {
  const head = 'This program holds the work of others, on the terms that stand below each name.'
  const parts = packages.map(
    ({ name, version, license }) => `${name} ${version} (${license})\n\n${termsOf(name)}`,
  )
  return `${[head, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

function termsOf(name: string): string {
  const special = perTarget.find(({ prefix }) => name.startsWith(prefix))
  if (!special) return licenceOf(name)
  const { textOf, linked } = special
  const where = `The terms of what is linked into it: ${linked}`
  return textOf === null ? where : `${licenceOf(textOf)}\n\n${where}`
}

/** Throws for a package without one: what nobody may pass on goes into no release. */
function licenceOf(name: string): string {
  const folder = join(root, 'node_modules', name)
  const file = readdirSync(folder).find((file) => /^licen[cs]e(\.|$)/i.test(file))
  if (!file) throw new Error(`${name} brings no text of its licence`)
  return readFileSync(join(folder, file), 'utf8').trim()
}
