import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { landlockAbi, leastAbi } from '../../src/system/sandbox/landlock.ts'
import { findSandbox } from '../../src/system/sandbox/tier.ts'
import { must } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { isSkipped, makePlace, titleOf, ways } from '../system/sandbox/session.ts'
import { honest, makeTarget, pathWithout } from './kit.ts'

setDefaultTimeout(60_000)

const here = await findSandbox({ path: process.env.PATH ?? '', mode: 'auto' })

test.skipIf(here.tier === 'T0')(
  'no folder that holds the project can be written, so that nobody puts a copy in its place (S7)',
  async () => {
    using p = await makeTarget({ folder: 'code/repo' }, 'required')
    const above = dirname(p.root)
    const loop = join(p.root, '.automaton', 'loops', 'nightly', 'loop.json')
    p.configure({ harness: { writes: [p.scenarioDir, above] } })
    const before = readFileSync(loop, 'utf8')
    const script = `cd / && mv '${above}/repo' '${above}/r2' && cp -r '${above}/r2' '${above}/repo' && echo " " >> '${loop}'`
    p.script({ implement: `( ${script} ); echo $? > '${p.scenarioDir}/code'\n${honest.implement}` })
    const call = await p.tick()
    expect(readFileSync(join(p.scenarioDir, 'code'), 'utf8').trim()).not.toBe('0')
    expect(existsSync(join(above, 'r2'))).toBe(false)
    expect(readFileSync(loop, 'utf8')).toBe(before)
    expect([call.code, call.stdout + call.stderr]).toEqual([0, expect.stringContaining('holds too much')])
  },
)

test.skipIf(here.tier === 'T0')(
  'a link that another loop’s session made opens nothing to this one (S26)',
  async () => {
    using p = await makeTarget({}, 'required')
    await must(p.call(['create-loop', 'other', '--from-template', 'backlog']))
    const other = join(p.root, '.automaton', 'loops', 'other', 'loop.json')
    const config = JSON.parse(readFileSync(other, 'utf8'))
    writeFileSync(other, JSON.stringify({ ...config, harness: { ...config.harness, writes: ['~/.cache'] } }))
    writeFiles(p.home, { '.cache/x': '', 'units/x': '' })
    symlinkSync(join(p.home, 'units'), join(p.home, '.cache', 'agent'))
    p.configure({ harness: { writes: [p.scenarioDir, '~/.cache/agent'] } })
    p.script({ implement: `echo x > "$HOME/units/planted"\n${honest.implement}` })
    const call = await p.tick()
    expect(existsSync(join(p.home, 'units', 'planted'))).toBe(false)
    expect(call.stdout + call.stderr).toMatch(/may\s+not\s+write\s+~\/.cache\/agent/)
  },
)

for (const way of ways.filter(({ who }) => who === 'self')) {
  const isBwrap = way.kind === 'bwrap'
  describe.skipIf(isSkipped(way))(`in ${titleOf(way)}`, () => {
    test.each([
      ['the home', '', 'echo x >> ~/.bashrc'],
      ['what starts programs for the person', '.config/gh', 'echo x > ~/.config/gh/new'],
      ['keys', '.ssh', 'cat ~/.ssh/id'],
    ])('a link that another session left in a harness’s folder does not open %s (S26)', (_, target, act) => {
      using place = makePlace(way)
      mkdirSync(join(place.home, '.cache'))
      symlinkSync(join(place.home, target), join(place.home, '.cache', 'agent'))
      const { result, notes } = place.run(act, { writes: ['~/.cache/agent'] })
      expect(result.exitCode).not.toBe(0)
      expect(result.stdout).not.toContain('secret')
      expect(notes.join('\n')).toContain('may not write ~/.cache/agent')
    })

    test('automaton’s own program is not to be replaced (S3)', () => {
      using place = makePlace(way)
      writeFiles(place.home, { '.local/bin/automaton': 'genuine\n' })
      const file = join(place.home, '.local', 'bin', 'automaton')
      const { result, notes } = place.run(`echo forged > ${file}`, { writes: ['~/.local'], self: [file] })
      expect(result.exitCode).not.toBe(0)
      expect(readFileSync(file, 'utf8')).toBe('genuine\n')
      expect(notes).toEqual([expect.stringContaining('may not write ~/.local')])
    })

    test('what is hidden cannot be moved to where the next session reads it (S40)', () => {
      using place = makePlace(way)
      writeFiles(place.home, { '.config/git/credentials': 'secret\n' })
      const moves = 'mv ~/.config/git ~/.config/git2; mv ~/.config ~/.conf; mv ~/.config/gh ~/.config/gh2'
      const { notes } = place.run(`${moves}; echo x > ~/.config/own`, { writes: ['~/.config'] })
      const next = 'cat ~/.config/git2/credentials ~/.conf/git/credentials ~/.config/gh2/*'
      expect(place.run(next, { writes: ['~/.config'] }).result.stdout).toBe('')
      expect(existsSync(join(place.home, '.config', 'own'))).toBe(isBwrap)
      const said = isBwrap ? [] : [expect.stringMatching(/may not write .*\.config: Landlock cannot keep/)]
      expect(notes).toEqual(said)
    })

    test('a folder of PATH is not written, whether it is there yet or not (S3)', () => {
      using place = makePlace(way)
      const at = (name: string) => join(place.home, '.agent', name)
      writeFiles(place.home, { '.agent/deep/bin/git': 'genuine\n' })
      const acts = [
        'echo forged > ~/.agent/deep/bin/git',
        'echo forged > ~/.agent/deep/bin/sh',
        'mv ~/.agent/deep ~/.agent/gone; mkdir -p ~/.agent/deep/bin; echo forged > ~/.agent/deep/bin/git',
        'mkdir -p ~/.agent/later; echo forged > ~/.agent/later/git',
        'echo x > ~/.agent/own',
      ]
      const folders = `${at('deep/bin')}:relative:${at('later')}:/usr/bin`
      const { notes } = place.run(acts.join('\n'), { writes: ['~/.agent'], folders })
      expect(existsSync(at('own'))).toBe(true)
      if (isBwrap) {
        expect(readFileSync(at('deep/bin/git'), 'utf8')).toBe('genuine\n')
        for (const file of ['deep/bin/sh', 'later/git', 'gone']) expect(existsSync(at(file))).toBe(false)
        expect(notes).toEqual([])
      } else {
        const named = [at('later'), at('deep/bin')]
        expect(notes).toEqual(
          named.map((path) => expect.stringContaining(`protect the programs in ${path}, `)),
        )
      }
    })

    test('a harness is not given a folder of PATH itself (S3)', () => {
      using place = makePlace(way)
      const folders = join(place.home, '.agent', 'bin')
      const { notes } = place.run('mkdir -p ~/.agent/bin; echo forged > ~/.agent/bin/git', {
        writes: ['~/.agent/bin'],
        folders,
      })
      expect(existsSync(join(folders, 'git'))).toBe(false)
      expect(notes).toEqual([expect.stringContaining('it is a folder of PATH')])
    })

    test('a link on the way to a folder of PATH is told, where a session can change it (S3)', () => {
      using place = makePlace(way)
      writeFiles(place.home, { '.agent/v1/bin/git': 'genuine\n' })
      symlinkSync('v1', join(place.home, '.agent', 'current'))
      const folders = join(place.home, '.agent', 'current', 'bin')
      const { notes } = place.run('true', { writes: ['~/.agent'], folders })
      expect(notes).toContainEqual(expect.stringContaining(`${folders} is a folder of PATH, and a link`))
    })
  })
}

const hasLandlock = process.platform === 'linux' && landlockAbi() >= leastAbi

describe.skipIf(!hasLandlock)(`Landlock${hasLandlock ? '' : ' (skipped: this kernel has none)'}`, () => {
  test('is not the sandbox that a loop insists on whose sessions work in the checkout (S44, S10)', async () => {
    using bin = tempDir()
    using p = await makeTarget({ loop: { blast_radius: { worktree: false } } }, 'required')
    const loop = join(p.loopDir, 'loop.json')
    const before = readFileSync(loop, 'utf8')
    p.script({ implement: `echo " " >> '${loop}'\n${honest.implement}` })
    const env = { PATH: pathWithout('bwrap', bin.path) }
    const call = await p.call(['tick', p.loop], { env })
    expect([call.code, call.stdout + call.stderr]).toEqual([5, expect.stringContaining('use a worktree')])
    expect(readFileSync(loop, 'utf8')).toBe(before)
    const gate = await p.call(['check-gate', p.loop, '--json'], { env })
    expect(gate.stdout).toContain('refused:sandbox')
    expect(gate.stdout).toContain(`Landlock cannot protect ${p.root}/.automaton`)
  })

  test('is said to leave it open where the loop takes what there is, and so are programs (S10, S3)', async () => {
    using bin = tempDir()
    using p = await makeTarget({ loop: { blast_radius: { worktree: false } } }, 'auto')
    const own = join(p.home, '.agent', 'bin')
    mkdirSync(own, { recursive: true })
    mkdirSync(join(p.home, '.config', 'gh'), { recursive: true })
    p.configure({ harness: { writes: [p.scenarioDir, '~/.agent', '~/.config', '~/'] } })
    const env = { PATH: `${own}:${pathWithout('bwrap', bin.path)}` }
    const said = [
      `Landlock cannot protect ${p.root}/.automaton`,
      `Landlock cannot protect the programs in ${own}`,
      `may not write ${p.home}/.config: Landlock cannot keep`,
      'may not write ~/: it is protected, or holds too much',
    ]
    const { stdout } = await p.call(['status', p.loop, '--json'], { env })
    for (const text of said) expect(stdout).toContain(text)
    const doctor = await p.call(['doctor', '--json'], { env })
    for (const text of said) expect(doctor.stdout).toContain(text)
  })
})
