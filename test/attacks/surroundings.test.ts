import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { must, type TestProject } from '../helpers/project.ts'
import { git, makeRepo, writeFiles } from '../helpers/repo.ts'
import { honest, makeTarget } from './kit.ts'

setDefaultTimeout(60_000)

describe('programs in folders of PATH that a session can write', () => {
  /** Does what git does, so that everything goes on as if nothing were wrong. */
  const planted = (note: string) => `#!/bin/sh\ntouch '${note}'\nexec /usr/bin/git "$@"\n`
  const plant = (folder: string, note: string) =>
    writeFiles(folder, { git: planted(note), bwrap: '#!/bin/sh\nexit 0\n' })

  test.each([
    ['in the project', (p: TestProject) => join(p.root, 'node_modules/.bin')],
    ['that harness.writes opens', (p: TestProject) => join(p.home, '.tools/bin')],
    ['that the agent itself must write', (p: TestProject) => join(p.home, '.amp/bin')],
  ])('%s are not run', async (_name, folderOf) => {
    using p = await makeTarget(
      { loop: { harness: { use: 'amp', command: null, writes: ['~/.tools'] } } },
      'auto',
    )
    const folder = folderOf(p)
    const note = join(p.scenarioDir, 'PLANTED')
    plant(folder, note)
    writeFiles(folder, { amp: '#!/bin/sh\nexit 1\n' })
    for (const name of ['git', 'bwrap', 'amp']) chmodSync(join(folder, name), 0o755)
    const env = { PATH: `${folder}:${process.env.PATH ?? ''}` }
    expect((await p.call(['check-gate', p.loop], { env })).code).toBe(0)
    // The agent may come from there: it is locked in, by a bubblewrap that does not.
    expect((await p.call(['tick', p.loop], { env })).code).toBe(5)
    await must(p.call(['sync', p.loop], { env }))
    expect(existsSync(note)).toBe(false)
  })
})

describe('files that a runtime would load from where it is started', () => {
  const evil = (note: string) => `require('fs').writeFileSync(${JSON.stringify(note)}, 'x')\n`
  const hostile = (note: string) => ({
    'bunfig.toml':
      'preload = ["./evil.js"]\n[test]\npreload = ["./evil.js"]\n[install]\nregistry = "http://127.0.0.1:1"\n',
    '.bunfig.toml': 'preload = ["./evil.js"]\n',
    '.env': `AUTOMATON_HOME=/stolen\nBUN_OPTIONS=--preload ./evil.js\nAUTOMATON_IN_TICK=x\nPATH=/nowhere\nNODE_OPTIONS=--require ./evil.js\n`,
    '.env.local': 'AUTOMATON_HOME=/stolen\n',
    '.env.production': 'AUTOMATON_HOME=/stolen\n',
    'evil.js': evil(note),
    'tsconfig.json': '{"compilerOptions":{"paths":{"*":["./evil.js"]}}}',
    'package.json':
      '{"name":"automaton","type":"module","imports":{"#*":"./evil.js"},"exports":"./evil.js","main":"./evil.js"}',
    'node_modules/automaton/index.js': evil(note),
    'node_modules/valibot/index.js': evil(note),
    'node_modules/zx/index.js': evil(note),
    'node_modules/cac/index.js': evil(note),
    'node_modules/picocolors/index.js': evil(note),
    'node_modules/@napi-rs/simple-git/index.js': evil(note),
    'node_modules/.bin/git': `#!/bin/sh\ntouch ${note}\n`,
    'libc.so.6': 'not a library',
    '.automaton/cache/bin/git': `#!/bin/sh\ntouch ${note}\n`,
  })

  test('in the repository, the worktree, HOME and the working folder: none is loaded (S30)', async () => {
    using p = await makeTarget()
    const note = join(p.home, 'PLANTED')
    const places = [p.root, p.home, join(p.home, '.automaton'), join(p.root, 'deep', 'er'), p.worktree]
    for (const place of places.slice(0, 4)) writeFiles(place, hostile(note))
    writeFileSync(join(p.root, '.git', 'info', 'exclude'), '*\n')
    expect((await p.tick()).code).toBe(0)
    writeFiles(p.worktree, hostile(note))
    for (const cwd of places) {
      for (const args of [
        ['status'],
        ['doctor'],
        ['audit'],
        ['log', p.loop],
        ['check-gate', p.loop],
        ['plugins'],
        ['tick', p.loop],
      ]) {
        const call = await p.call([...args, '--project', p.root], { cwd })
        expect(call.code, `${args} in ${cwd}: ${call.stderr}`).not.toBe(1)
        expect(call.stderr).not.toContain('/stolen')
      }
    }
    expect(existsSync(note)).toBe(false)
  })
})

describe('variables that load or redirect something', () => {
  let p: TestProject
  let evil: string
  let note: string
  beforeAll(async () => {
    p = await makeTarget({
      loop: { harness: { env: ['BASH_ENV', 'ENV', 'GIT_DIR', 'BUN_OPTIONS', 'LD_PRELOAD', 'CLAUDECODE'] } },
    })
    evil = join(p.home, 'evil.js')
    note = join(p.home, 'PLANTED')
    writeFileSync(evil, `require('fs').writeFileSync(${JSON.stringify(note)}, 'x')\n`)
  })
  afterAll(() => p[Symbol.dispose]())

  for (const [name, value] of [
    ['BUN_OPTIONS', '--smol'],
    ['NODE_OPTIONS', '--require /nonexistent.js'],
    ['LD_PRELOAD', '/nonexistent.so'],
    ['LD_AUDIT', '/nonexistent.so'],
    ['BUN_INSPECT_CONNECT_TO', 'unix:///nonexistent'],
  ] as const) {
    test(`${name} is refused where programs start or a person decides (S31)`, async () => {
      const before = readFileSync(join(p.loopDir, '.state.log'), 'utf8')
      for (const args of [
        ['tick', p.loop],
        ['approve', '--loop', p.loop, '--halt', 'x'],
        ['repair', p.loop],
      ]) {
        const call = await p.call(args, { env: { [name]: value } })
        expect(call.code, args.join(' ')).toBe(6)
        expect(call.stderr).toContain(`refused (${name} is set)`)
      }
      expect(readFileSync(join(p.loopDir, '.state.log'), 'utf8')).toBe(before)
    })
  }

  test('git’s own, and those of shells, reach neither automaton’s git nor a session (S31)', async () => {
    const other = makeRepo(join(p.home, 'other'))
    const evilShell = join(p.home, 'evil.sh')
    writeFileSync(evilShell, `touch ${note}\n`)
    const env = {
      GIT_DIR: join(other, '.git'),
      GIT_WORK_TREE: other,
      GIT_INDEX_FILE: join(other, '.git', 'index'),
      GIT_OBJECT_DIRECTORY: join(other, '.git', 'objects'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.fsmonitor',
      GIT_CONFIG_VALUE_0: `touch ${note}`,
      GIT_CONFIG_GLOBAL: evilShell,
      GIT_SSH_COMMAND: `touch ${note}`,
      GIT_EXTERNAL_DIFF: `touch ${note}`,
      GIT_PAGER: `touch ${note}`,
      GIT_EXEC_PATH: p.home,
      GIT_TRACE: join(p.home, 'trace'),
      GIT_TEMPLATE_DIR: p.home,
      CLAUDECODE: '1',
      PAGER: `touch ${note}`,
      EDITOR: `touch ${note}`,
      PERL5OPT: '-Mevil',
    }
    p.script({ implement: `env > ${p.home}/env\n${honest.implement}` })
    const call = await p.call(['tick', p.loop], { env })
    expect(call.stdout + call.stderr).toContain('code_review')
    expect(call.code).toBe(0)
    const seen = readFileSync(join(p.home, 'env'), 'utf8')
    expect(seen).not.toMatch(/^(GIT_|CLAUDECODE|PERL5OPT|PAGER|EDITOR|BUN_)/m)
    for (const args of [
      ['status'],
      ['doctor'],
      ['log', p.loop, '--tick', '1'],
      ['audit'],
      ['check-gate', p.loop],
    ]) {
      expect((await p.call(args, { env })).code).toBe(0)
    }
    expect(git(other, 'for-each-ref', '--format=%(refname)')).toBe('refs/heads/main')
    expect(existsSync(note)).toBe(false)
    expect(existsSync(join(p.home, 'trace'))).toBe(false)
  })

  test('a program named git in a folder of the repository, and relative folders in PATH, are passed by (S32)', async () => {
    p.script(honest)
    await p.tick()
    const bin = join(p.root, 'bin')
    for (const name of ['git', 'sh', 'ps', 'bwrap', 'env', 'true', 'automaton']) {
      const text = `#!/bin/sh\necho "$0 $PWD" >> ${note}\n`
      writeFiles(p.root, { [`bin/${name}`]: text, [name]: text })
      writeFiles(p.worktree, { [`src/${name}`]: text })
    }
    const path = ['', '.', 'bin', './bin', 'src', ...(process.env.PATH ?? '').split(':'), bin].join(':')
    for (const cwd of [p.root, p.worktree]) {
      for (const args of [['status'], ['doctor'], ['check-gate', p.loop], ['tick', p.loop]]) {
        const call = await p.call(args, { cwd, home: p.home, env: { PATH: path } })
        expect(call.code, `${args}: ${call.stderr}`).toBe(0)
      }
    }
    expect(existsSync(note) && readFileSync(note, 'utf8')).toBe(false)
  })
})
