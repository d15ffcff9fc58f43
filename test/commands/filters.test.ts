import { expect, test } from 'bun:test'
import { scratch } from './fixture.ts'

test('init and doctor say that automaton runs none of the filters that the repository names', async () => {
  using s = scratch({ '.gitattributes': '*.bin filter=lfs\n' })
  expect((await s.run('init', '--json')).json()).toMatchObject({ filters: ['lfs'] })
  const means = 'such files are as git stores them'
  expect((await s.run('init')).stdout.replaceAll(/\s+/g, ' ')).toContain(means)
  const { findings } = (await s.run('doctor', '--json')).json()
  const [finding] = (findings as { what: string }[]).filter(({ what }) => what === 'filters')
  expect(finding).toMatchObject({ level: 'hint', detail: expect.stringContaining(means) })
})

test('a repository without filters is told nothing of them', async () => {
  using s = scratch({ '.gitattributes': '*.txt text\n' })
  expect((await s.run('init')).stdout).not.toContain('filter')
  expect((await s.run('doctor')).stdout).not.toContain('filter')
})
