import { afterAll, beforeAll, describe, expect } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../crash/needs.ts'
import { git, makeRepo } from '../helpers/repo.ts'
import { makeWine, type Wine } from '../helpers/wine.ts'

/** A project whose loop `nightly` is worked by `agent.exe`; the files of `steer` tell the agent what to do. */
interface Project {
  root: string
  loopDir: string
  steer: string
  call: (...args: string[]) => ReturnType<Wine['automaton']>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into JSON files freely
  state(): any
}

const test = needs('wine', 'x86_64-w64-mingw32-gcc')
const minutes = 60_000
let wine: Wine

describe('on Windows, as far as Wine plays it', () => {
  beforeAll(async () => {
    if (canRun()) wine = await makeWine()
  }, 5 * minutes)
  afterAll(async () => {
    if (canRun()) await wine[Symbol.asyncDispose]()
  })

  test(
    'a project is set up, and two ticks at once are one tick',
    async () => {
      const { call, steer, state, root } = await project('twice')
      writeFileSync(join(steer, 'linger'), '')
      const ticks = await Promise.all([call('tick', 'nightly', '--json'), call('tick', 'nightly', '--json')])
      expect(ticks.map((tick) => tick.code)).toEqual([0, 0])
      expect(ticks.map((tick) => tick.json().outcome).sort()).toEqual(['busy', 'worked'])
      const busy = ticks.find((tick) => tick.json().outcome === 'busy')
      expect(busy?.json().holder).toMatch(/^pid \d+, since |^another process$/)
      expect(state()).toMatchObject({ iteration_count: 1, status: 'running' })
      expect(git(root, 'show', 'automaton/nightly:src/work.txt')).toBe('start\nmore\n')
      // What the agent left running, away from its console, has ended with its session.
      expect(lines(join(steer, 'started')).length).toBeGreaterThan(0)
      expect(wine.running('agent.exe --sleep')).toBe(0)
      expect((await call('doctor', '--json')).stdout).toContain('"schema":1')
    },
    3 * minutes,
  )
})

/** Whether the tests here run, or fail for want of a tool. */
function canRun(): boolean {
  return Boolean((Bun.which('wine') && process.env.TEST_WINDOWS_GIT) || process.env.TEST_REQUIRE_TOOLS)
}

async function project(name: string, command = ['agent.exe']): Promise<Project> {
  const root = join(wine.dir, name)
  const steer = join(wine.dir, `${name}-steer`)
  mkdirSync(steer)
  makeRepo(root, { 'src/work.txt': 'start\n', 'brief.md': 'Fix it, please.\n' })
  const call = (...args: string[]) => wine.automaton(args, root)
  for (const args of [
    ['init'],
    ['create-loop', 'nightly', '--from-template', 'backlog', '--scope', 'src/'],
    ['create-task', 'fix-it', '--brief', 'brief.md'],
  ]) {
    const made = await call(...args)
    if (made.code !== 0) throw new Error(`${args.join(' ')}: exit ${made.code}\n${made.stderr}`)
  }
  const loopDir = join(root, '.automaton', 'loops', 'nightly')
  const file = join(loopDir, 'loop.json')
  const config = JSON.parse(readFileSync(file, 'utf8'))
  const [program = '', ...rest] = command
  config.harness.command = [wine.path(join(wine.bin, program)), ...rest, wine.path(steer)]
  config.harness.timeout_seconds = 60
  config.roles.orchestrate.mode = 'rules'
  writeFileSync(file, JSON.stringify(config))
  const state = () => JSON.parse(readFileSync(join(loopDir, '.state.loop'), 'utf8'))
  return { root, loopDir, steer, call, state }
}

function lines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}
