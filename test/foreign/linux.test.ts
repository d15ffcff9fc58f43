import { describe, expect } from 'bun:test'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../release/compile.ts'
import { tempDir } from '../helpers/temp.ts'
import { makeWorld, release, roots } from './world.ts'

/** On an emulated processor each start of the program takes a second, and many on a busy machine; the demo has some forty. */
const limitMs = 600_000

describe.each([
  ['linux-x64-musl', 'linux x64'],
  ['linux-arm64', 'linux arm64'],
])('the released program for %s', (target, system) => {
  roots.test(
    'proves itself by doctor --self, loads its addon, and leaves nothing behind',
    async () => {
      using world = makeWorld(target)
      const self = await world.run('doctor', '--self', '--json')
      const report = JSON.parse(self.stdout)
      expect(report.checks.filter(({ ok }: { ok: boolean }) => !ok)).toEqual([])
      expect(report).toMatchObject({ ok: true, version: version(), system: expect.stringContaining(system) })
      expect(self.code).toBe(0)
      const { findings } = JSON.parse((await world.run('doctor', '--json')).stdout)
      const library = findings.find(({ what }: { what: string }) => what === 'simple-git')
      expect(library).toMatchObject({ level: 'good', detail: 'loads' })
      expect(readdirSync(world.tmp)).toEqual([])
    },
    limitMs,
  )

  roots.test(
    'takes the demo’s task to its end, and its other loop to a halt and on',
    async () => {
      using world = makeWorld(target)
      const run = await world.run('demo', '--json')
      expect({ code: run.code, said: run.stderr }).toMatchObject({ code: 0 })
      expect(JSON.parse(run.stdout)).toMatchObject({
        complete: { task: 'fix-slug', ticks: 6 },
        braked: { halt: { reason: 'drift_detected', files: ['README.md'] }, after: 'code_review' },
      })
    },
    limitMs,
  )
})

roots.test(
  'the released program for linux-x64-musl takes a loop to a halt that a person has to clear',
  async () => {
    using world = makeWorld('linux-x64-musl')
    const must = async (...args: string[]) => expect(await world.run(...args)).toMatchObject({ code: 0 })
    await must('create-loop', 'nightly', '--from-template', 'backlog', '--scope', 'src/')
    const file = join(world.root, '.automaton/loops/nightly/loop.json')
    const config = JSON.parse(readFileSync(file, 'utf8'))
    config.harness.command = ['sh', '-c', 'echo more >> README.md; echo done']
    writeFileSync(file, JSON.stringify(config))
    writeFileSync(join(world.root, 'brief.md'), 'Change src/a.txt.\n')
    await must('create-task', 'change-a', '--brief', 'brief.md')
    const tick = await world.run('tick', 'nightly', '--json')
    expect(tick.code).toBe(4)
    expect(JSON.parse(tick.stdout)).toMatchObject({
      halt: { reason: 'drift_detected', files: ['README.md'] },
    })
    expect((await world.run('tick', 'nightly')).code).toBe(3)
  },
  limitMs,
)

release.test(
  'the released program for linux-x64-baseline runs on a processor without AVX',
  async () => {
    using dir = tempDir()
    const archive = join(release.path(), 'automaton-linux-x64-baseline.tar.gz')
    expect(Bun.spawnSync(['tar', '-xzf', archive, '-C', dir.path]).exitCode).toBe(0)
    const old = ['qemu-x86_64-static', '-cpu', 'Nehalem', join(dir.path, 'automaton')]
    const call = (...args: string[]) =>
      Bun.spawnSync([...old, ...args], { cwd: dir.path, env: { HOME: dir.path } })
    expect(call('--version').stdout.toString()).toBe(`automaton ${version()}\n`)
    expect(JSON.parse(call('schema', 'loop').stdout.toString())).toMatchObject({ type: 'object' })
  },
  limitMs,
)
