import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compile } from '../../release/compile.ts'
import { scratch } from '../commands/fixture.ts'
import { callEnv } from '../helpers/cli.ts'
import { tempDir } from '../helpers/temp.ts'

/** Builds a binary around an addon and has it look at a project with a loop. */
async function withAddon(text: string | null) {
  using dir = tempDir()
  using s = scratch()
  const addon = text === null ? null : join(dir.path, 'addon.node')
  if (addon !== null) writeFileSync(addon, `${text}`)
  const binary = join(dir.path, 'automaton')
  const built = await compile({ outfile: binary, addon })
  expect(built.logs).toEqual([])
  const call = (...args: string[]) => {
    const run = Bun.spawnSync([binary, ...args], { cwd: s.root, env: callEnv({ cwd: s.root, home: s.home }) })
    return { code: run.exitCode, out: run.stdout.toString(), err: run.stderr.toString() }
  }
  expect(call('create-loop', 'nightly', '--from-template', 'backlog').code).toBe(0)
  const config = JSON.parse(readFileSync(s.places('nightly').config, 'utf8'))
  config.harness.command = ['true']
  writeFileSync(s.places('nightly').config, JSON.stringify(config))
  return { doctor: call('doctor'), tick: call('tick', 'nightly', '--json') }
}

describe('a binary whose simple-git addon', () => {
  const cases = { 'is missing': null, 'cannot be loaded': 'not a library' }
  for (const [how, addon] of Object.entries(cases)) {
    test(`${how} runs all the same, and doctor says so once`, async () => {
      const { doctor, tick } = await withAddon(addon)
      expect(doctor.out.match(/simple-git/g)).toHaveLength(1)
      expect(doctor.out).toContain('does not load here; git does its work')
      expect(doctor.err).toBe('')
      expect(JSON.parse(tick.out)).toMatchObject({ outcome: 'no_work' })
    }, 60_000)
  }
})
