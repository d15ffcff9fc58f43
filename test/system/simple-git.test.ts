import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratch } from '../commands/fixture.ts'
import { git } from '../helpers/repo.ts'

/** What doctor says of it, in a HOME with the given files. */
async function doctor(files: Record<string, string>) {
  using s = scratch()
  git(s.root, 'checkout', '-q', '-b', 'trunk')
  const tmp = join(s.home, '..', 'tmp')
  mkdirSync(tmp)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(s.home, name), text)
  const { findings } = (await s.call(['doctor', '--json'], { env: { TMPDIR: tmp } })).json() as {
    findings: { what: string; level: string; detail: string }[]
  }
  const detail = (what: string) => findings.find((finding) => finding.what === what)?.detail
  return {
    library: detail('simple-git'),
    repository: detail('repository'),
    home: readdirSync(s.home).sort(),
    tmp: readdirSync(tmp),
  }
}

test('doctor tries simple-git out and leaves nothing behind; the branch is known with and without it', async () => {
  const bare = await doctor({})
  expect(bare.library).toMatch(/^loads$|^does not load here; git does its work$/)
  expect(bare.repository).toEndWith('/work, on trunk')
  expect(bare.home).toEqual(['.automaton'])
  expect(bare.tmp).toEqual([])
  const own = await doctor({ '.gitconfig': '[user]\n\tname = Pat\n' })
  expect(own.repository).toEndWith('/work, on trunk')
  expect(own.home).toEqual(['.automaton', '.gitconfig'])
  expect(own.tmp).toEqual([])
})
