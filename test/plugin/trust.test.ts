import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findPlugins, type PluginFile, pluginAt, pluginFolders } from '../../src/plugin/files.ts'
import { readWithImports } from '../../src/plugin/imports.ts'
import {
  hashPlugin,
  readTrust,
  type TrustRecord,
  trustedFiles,
  trustFile,
  trustText,
} from '../../src/plugin/trust.ts'
import { isInWorktree } from '../../src/system/worktree-path.ts'
import { writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'

function known(path: string): PluginFile {
  const plugin = pluginAt(path)
  if (!plugin) throw new Error(`${path} is no plugin`)
  return plugin
}

function trusted(file: PluginFile): TrustRecord {
  const { files, tests } = hashPlugin(file)
  return {
    file: file.file,
    name: file.stem,
    role: null,
    needs_options: false,
    files,
    tests,
    trusted_at: '2026-01-01T00:00:00.000Z',
    by: 'pat',
  }
}

describe('the plugins of a folder', () => {
  test('are its files and folders with an index, and neither tests nor declarations', () => {
    using dir = tempDir()
    writeFiles(dir.path, {
      'a.ts': '',
      'a.test.ts': '',
      'b.mjs': '',
      'c.js': '',
      'd/index.ts': '',
      'd/other.ts': '',
      'e/other.ts': '',
      'automaton.d.ts': '',
      '.hidden.ts': '',
      'notes.md': '',
      'node_modules/index.js': '',
    })
    const found = findPlugins(dir.path)
    expect(found.map(({ stem }) => stem)).toEqual(['a', 'b', 'c', 'd'])
    expect(found[0]?.test).toBe(join(dir.path, 'a.test.ts'))
    expect(found[1]?.test).toBeNull()
    expect(found[3]?.file).toBe(join(dir.path, 'd', 'index.ts'))
  })

  test('are never those of a worktree', () => {
    using dir = tempDir()
    const worktree = join(dir.path, '.automaton', 'loops', 'nightly', 'worktree')
    mkdirSync(join(worktree, '.automaton', 'plugins'), { recursive: true })
    expect(pluginFolders(join(dir.path, 'home'), join(worktree, '.automaton'))).toEqual([])
    // A link does not help.
    symlinkSync(join(worktree, '.automaton'), join(dir.path, 'linked'))
    expect(pluginFolders(join(dir.path, 'home'), join(dir.path, 'linked'))).toEqual([])
    expect(isInWorktree(join(dir.path, '.automaton', 'plugins'))).toBe(false)
  })
})

describe('imports', () => {
  test('are followed through files of every kind, once each', () => {
    using dir = tempDir()
    writeFiles(dir.path, {
      'a.ts': `import './b'\nimport x from './data.json'\nimport 'node:fs'\nimport * as v from 'valibot'\nexport { v, x }\nvoid import('./lazy.ts')`,
      'b.ts': `export * from './a.ts'\nimport './lib/index.js'`,
      'data.json': '{}',
      'lazy.ts': '',
      'lib/index.js': '',
      'unused.ts': '',
    })
    const found = [...readWithImports(join(dir.path, 'a.ts')).keys()].map((path) =>
      path.slice(dir.path.length + 1),
    )
    expect(found.sort()).toEqual(['a.ts', 'b.ts', 'data.json', 'lazy.ts', 'lib/index.js'])
  })

  const bad: [what: string, text: string, why: string][] = [
    [
      'a package',
      `import pad from 'left-pad'\npad()`,
      'it imports "left-pad", and a plugin can import automaton',
    ],
    ['a missing file', `import './gone.ts'`, 'it imports "./gone.ts", which is not there'],
    ['a program', `import x from './x.node'\nx()`, 'files of its kind are not imported'],
  ]
  test.each(bad)('of %s are refused', (_, text, why) => {
    using dir = tempDir()
    writeFiles(dir.path, { 'a.ts': text, 'x.node': '' })
    expect(() => readWithImports(join(dir.path, 'a.ts'))).toThrow(why)
  })

  test('into a worktree are refused, also by a link', () => {
    using dir = tempDir()
    writeFiles(dir.path, { '.automaton/loops/nightly/worktree/x.ts': '', 'a.ts': `import './linked.ts'` })
    symlinkSync(join(dir.path, '.automaton/loops/nightly/worktree/x.ts'), join(dir.path, 'linked.ts'))
    expect(() => readWithImports(join(dir.path, 'a.ts'))).toThrow("lies in a loop's worktree")
  })

  test('of what is no code are none: importing it says what is wrong', () => {
    using dir = tempDir()
    writeFiles(dir.path, { 'a.ts': `import './b.ts'\nexport default {` })
    expect(readWithImports(join(dir.path, 'a.ts')).size).toBe(1)
  })
})

describe('trust', () => {
  const plugin = {
    'a.ts': `import './lib/b.ts'`,
    'lib/b.ts': 'export {}',
    'a.test.ts': `import './lib/c.ts'`,
    'lib/c.ts': '',
  }

  test('holds for the files as they were, and hands out what it compared', () => {
    using dir = tempDir()
    writeFiles(dir.path, plugin)
    const file = known(join(dir.path, 'a.ts'))
    const record = trusted(file)
    expect(Object.keys(record.files).sort()).toEqual(['a.ts', 'lib/b.ts'])
    expect(Object.keys(record.tests).sort()).toEqual(['a.test.ts', 'lib/c.ts'])
    const served = trustedFiles(file, record, false)
    expect(Array.isArray(served) && served.map(({ path, text }) => [path, text])).toEqual([
      [join(dir.path, 'a.ts'), plugin['a.ts']],
      [join(dir.path, 'lib/b.ts'), plugin['lib/b.ts']],
    ])
  })

  test('ends with a change of the file or of an import, not with one of its test', () => {
    using dir = tempDir()
    writeFiles(dir.path, plugin)
    const file = known(join(dir.path, 'a.ts'))
    const record = trusted(file)
    writeFileSync(join(dir.path, 'a.test.ts'), 'changed')
    expect(Array.isArray(trustedFiles(file, record, false))).toBe(true)
    expect(trustedFiles(file, record, true)).toEqual({
      stage: 'trust',
      why: 'a.test.ts has changed since it was trusted',
    })
    writeFileSync(join(dir.path, 'lib/b.ts'), 'changed')
    expect(trustedFiles(file, record, false)).toEqual({
      stage: 'trust',
      why: 'lib/b.ts has changed since it was trusted',
    })
    expect(trustedFiles(file, undefined, false)).toMatchObject({ stage: 'trust' })
  })

  test('does not follow a link that leads somewhere else than it did', () => {
    using dir = tempDir()
    writeFiles(dir.path, { 'one/a.ts': 'same', 'two/b.ts': 'same', 'two/a.ts': 'other' })
    const link = join(dir.path, 'plugin.ts')
    symlinkSync(join(dir.path, 'one/a.ts'), link)
    const record = trusted(known(link))
    using other = tempDir()
    const moved = join(other.path, 'plugin.ts')
    symlinkSync(join(dir.path, 'two/b.ts'), moved)
    expect(trustedFiles(known(moved), record, false)).toMatchObject({ stage: 'trust' })
  })

  test('is read from this user’s own file only', () => {
    using dir = tempDir()
    writeFiles(dir.path, plugin)
    const record = trusted(known(join(dir.path, 'a.ts')))
    const file = trustFile(dir.path)
    expect(readTrust(dir.path)).toEqual({ records: [], problem: null })
    mkdirSync(dirname(file))
    writeFileSync(file, trustText({ records: [{ ...record, by: 'old' }], problem: null }, record), {
      mode: 0o600,
    })
    expect(readTrust(dir.path)).toEqual({ records: [record], problem: null })
    chmodSync(file, 0o620)
    expect(readTrust(dir.path).records).toEqual([])
    expect(readTrust(dir.path).problem).toContain("is not this user's alone")
    chmodSync(file, 0o600)
    writeFileSync(file, '{"schema_version":1}')
    expect(readTrust(dir.path).problem).toContain('cannot be read')
  })
})
