import { expect, test } from 'bun:test'
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const root = join(import.meta.dir, '..')

/** A source file: its path from the repository's root with `/`, and its text. */
interface Source {
  path: string
  text: string
}

/** Floors from the ground up (AGENTS.md). A room imports from lower floors, and from itself. */
const floors: Record<string, number> = {
  'src/api': 0,
  'src/errors.ts': 0,
  'src/globals.d.ts': 0,
  'src/machine': 1,
  'src/system': 2,
  'src/store': 2,
  'src/config': 2,
  'src/assets': 2,
  'src/plugin': 2,
  'src/runner': 3,
  'src/commands': 4,
  'src/dashboard': 4,
  'src/app.ts': 4.5,
  'src/cli': 5,
  'src/main.ts': 6,
}

/** Packages from outside, and the rooms that may use them; `node:` modules and Bun are a matter of floors. */
const packages: Record<string, string[]> = {
  valibot: ['src/api', 'src/config', 'src/store', 'src/plugin', 'src/system'],
  '@valibot/to-json-schema': ['src/config'],
  'bun:ffi': ['src/system'],
  cac: ['src/cli'],
  picocolors: ['src/cli'],
  zx: ['src/plugin'],
  automaton: ['src/plugin'],
  '@napi-rs/simple-git': ['src/system'],
}

const sources = read(['src', 'plugins'])

test('imports go down the stairs, never up', () => {
  expect(upward(sources)).toEqual([])
  const bad = [
    { path: 'src/machine/gate.ts', text: `import { exec } from '../system/exec.ts'` },
    { path: 'src/store/run.ts', text: `import { schema } from '../config/schema.ts'` },
    { path: 'src/runner/tick.ts', text: `const { status } = await import('../commands/status.ts')` },
    { path: 'src/commands/tick.ts', text: `import { createApp } from '../app.ts'` },
    { path: 'src/attic/x.ts', text: '' },
  ]
  expect(upward(bad)).toHaveLength(5)
  const good = [
    { path: 'src/store/run.ts', text: `import { exec } from '../system/exec.ts'` },
    { path: 'src/commands/tick.ts', text: `import type { App } from '../app.ts'` },
  ]
  expect(upward(good)).toEqual([])
})

test('the two lowest floors touch no disk, no process and no clock', () => {
  expect(impure(sources)).toEqual([])
  expect(impure([{ path: 'src/machine/due.ts', text: `import { statSync } from 'node:fs'` }])).toHaveLength(1)
})

test('a package from outside is used only in the rooms that it is meant for', () => {
  expect(strayPackages(sources)).toEqual([])
  expect(strayPackages([{ path: 'src/runner/tick.ts', text: `import * as v from 'valibot'` }])).toHaveLength(
    1,
  )
  expect(strayPackages([{ path: 'src/cli/x.ts', text: `import x from 'left-pad'` }])).toHaveLength(1)
})

test('simple-git is loaded by doctor alone, and only when it is asked for', () => {
  expect(importersOf('@napi-rs/simple-git', sources)).toEqual(['src/system/simple-git.ts: dynamic'])
  expect(importersOf('../system/simple-git.ts', sources)).toEqual(['src/commands/doctor.ts: dynamic'])
  const early = { path: 'src/commands/x.ts', text: `import { trySimpleGit } from '../system/simple-git.ts'` }
  expect(importersOf('../system/simple-git.ts', [early])).toEqual(['src/commands/x.ts: static'])
})

test('what looks at the machine’s memory is loaded only where a look is made', () => {
  const outside = sources.filter(({ path }) => !path.startsWith('src/system/vram/'))
  expect(memoryImports(outside)).toEqual([
    'src/runner/context.ts: import(../system/vram/servers/ask.ts)',
    'src/runner/memory.ts: import(../system/vram/detect.ts)',
  ])
  const early = { path: 'src/runner/x.ts', text: `import { detect } from '../system/vram/detect.ts'` }
  expect(memoryImports([early])).toEqual(['src/runner/x.ts: from ../system/vram/detect.ts'])
})

test('plugins import the module automaton, valibot, zx and each other', () => {
  expect(strayPlugins(sources)).toEqual([])
  const bad = { path: 'plugins/sources/x.ts', text: `import { exec } from '../../src/system/exec.ts'` }
  expect(strayPlugins([bad, { path: 'plugins/x.ts', text: `import fs from 'node:fs'` }])).toHaveLength(2)
})

test('only app.ts imports the list of plugins, and only when it is asked for', () => {
  expect(pluginListImports(sources)).toEqual(['src/app.ts: import(../plugins/index.ts)'])
  const early = { path: 'src/app.ts', text: `import { builtinPlugins } from '../plugins/index.ts'` }
  expect(pluginListImports([early])).toEqual(['src/app.ts: from ../plugins/index.ts'])
})

test('process, console, the clock and the network are used in their own rooms only', () => {
  expect(outOfRoom(sources)).toEqual([])
  const bad = ['process.exit(1)', 'console.log(1)', 'Date.now()', 'new Date()', "fetch('http://x')"]
  for (const text of bad) expect(outOfRoom([{ path: 'src/runner/x.ts', text }])).toHaveLength(1)
  const good = "// process.exit\nnew Date(at)\nconst say = 'no process.exit here'\nhost.fetch(1)"
  expect(outOfRoom([{ path: 'src/runner/x.ts', text: good }])).toEqual([])
  expect(outOfRoom([{ path: 'src/system/x.ts', text: 'process.exit(1)' }])).toEqual([])
})

test('no file is longer than 350 lines', () => {
  expect(tooLong(sources)).toEqual([])
  expect(tooLong([{ path: 'src/x.ts', text: 'x\n'.repeat(351) }])).toEqual(['src/x.ts: 351 lines'])
})

test('no tracked file is so large that it was built, or named as if it were an option', () => {
  const list = Bun.spawnSync(['git', '-c', 'safe.directory=*', 'ls-files', '-z'], { cwd: root })
  const paths = list.stdout.toString().split('\0').filter(Boolean)
  expect(paths.length).toBeGreaterThan(sources.length)
  const files = paths.map((path) => ({ path, size: lstatSync(join(root, path), gone)?.size ?? 0 }))
  expect(astray(files)).toEqual([])
  const bad = [
    { path: '--help', size: 1 },
    { path: 'dist/automaton', size: 125_000_000 },
  ]
  expect(astray(bad)).toHaveLength(2)
})

test('no file only hands on what others export, but the two public lists', () => {
  expect(barrels(sources)).toEqual([])
  const bad = `// everything\nexport * from './a.ts'\nexport type { B } from './b.ts'\n`
  expect(barrels([{ path: 'src/store/all.ts', text: bad }])).toEqual(['src/store/all.ts'])
  expect(barrels([{ path: 'src/store/index.ts', text: 'const a = 1' }])).toEqual(['src/store/index.ts'])
})

test('types are not switched off, but once in api/plugin.ts', () => {
  expect(untyped(sources)).toEqual([])
  for (const text of [
    'let a: any',
    'f(x as any)',
    '// @ts-ignore',
    '// @ts-expect-error',
    '// @ts-nocheck',
  ]) {
    expect(untyped([{ path: 'src/x.ts', text }])).toEqual(['src/x.ts'])
  }
  expect(untyped([{ path: 'src/x.ts', text: `AbortSignal.any([]) // any of them, 'any'` }])).toEqual([])
})

test('every name in the tree of AGENTS.md exists', () => {
  const names = treeNames(readFileSync(join(root, 'AGENTS.md'), 'utf8'))
  expect(names.length).toBeGreaterThan(50)
  expect(names.filter((name) => !existsSync(join(root, name)))).toEqual([])
})

test('AGENTS.md names every folder of src, every room and every top-level entry', () => {
  const named = new Set(treeNames(readFileSync(join(root, 'AGENTS.md'), 'utf8')))
  const folders = foldersBelow('src').filter((folder) => read([folder]).length > 0)
  const top = ['src', 'plugins', 'prompts', 'templates', 'test', 'package.json', 'build.ts', 'tsconfig.json']
  expect([...folders, ...top].filter((path) => !named.has(path))).toEqual([])
  const rooms = new Set(sources.filter(({ path }) => path.startsWith('src/')).map(({ path }) => roomOf(path)))
  expect([...rooms].filter((room) => !named.has(room))).toEqual([])
})

test('a tree is read by its indentation, names before the first gap', () => {
  const text =
    '# Map\n\n```\nsrc/\n  main.ts   the entry, see other.ts\n  api/\n    a.ts b.ts\nREADME.md\n```\n'
  expect(treeNames(text)).toEqual([
    'src',
    'src/main.ts',
    'src/api',
    'src/api/a.ts',
    'src/api/b.ts',
    'README.md',
  ])
})

const gone = { throwIfNoEntry: false } as const

function astray(files: { path: string; size: number }[]): string[] {
  return files.filter(({ path, size }) => /(?:^|\/)-/.test(path) || size > 256 * 1024).map(({ path }) => path)
}

function upward(files: Source[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) => {
      const room = roomOf(path)
      const floor = floors[room]
      if (floor === undefined) return [`${path}: ${room} has no floor`]
      return importsOf(text).flatMap(({ name, typeOnly }) => {
        if (!name.startsWith('.')) return []
        const target = posix.join(posix.dirname(path), name)
        if (!target.startsWith('src/')) return []
        const to = roomOf(target)
        const below = (floors[to] ?? 99) < floor || to === room
        const beside = to === 'src/system' && floor === 2
        const appType = to === 'src/app.ts' && room === 'src/commands' && typeOnly
        return below || beside || appType ? [] : [`${path}: ${name}`]
      })
    })
}

function impure(files: Source[]): string[] {
  return files
    .filter(({ path }) => (floors[roomOf(path)] ?? 9) < 2)
    .flatMap(({ path, text }) =>
      importsOf(text)
        .filter(({ name, typeOnly }) => !name.startsWith('.') && !(name === 'valibot' && typeOnly))
        .map(({ name }) => `${path}: ${name}`),
    )
}

function strayPackages(files: Source[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) =>
      importsOf(text)
        .filter(({ name }) => !name.startsWith('.') && !name.startsWith('node:'))
        .filter(({ name }) => !packages[name]?.includes(roomOf(path)))
        .map(({ name }) => `${path}: ${name}`),
    )
}

function importersOf(wanted: string, files: Source[]): string[] {
  return files.flatMap(({ path, text }) =>
    importsOf(text)
      .filter(({ name }) => name === wanted)
      .map(({ dynamic }) => `${path}: ${dynamic ? 'dynamic' : 'static'}`),
  )
}

function strayPlugins(files: Source[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('plugins/'))
    .flatMap(({ path, text }) =>
      importsOf(text)
        .filter(({ name }) => !['automaton', 'valibot', 'zx'].includes(name))
        .filter(
          ({ name }) =>
            !name.startsWith('.') || !posix.join(posix.dirname(path), name).startsWith('plugins/'),
        )
        .map(({ name }) => `${path}: ${name}`),
    )
}

function pluginListImports(files: Source[]): string[] {
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) =>
      importsOf(text)
        .filter(({ name }) => posix.join(posix.dirname(path), name).startsWith('plugins/'))
        .map(({ name, dynamic }) => `${path}: ${dynamic ? `import(${name})` : `from ${name}`}`),
    )
}

function memoryImports(files: Source[]): string[] {
  return files.flatMap(({ path, text }) =>
    importsOf(text)
      .filter(({ name, typeOnly }) => !typeOnly && name.includes('/vram/'))
      .map(({ name, dynamic }) => `${path}: ${dynamic ? `import(${name})` : `from ${name}`}`),
  )
}

function outOfRoom(files: Source[]): string[] {
  const outside = /(?<![\w$.])(?:process\s*[.[?]|console\s*[.[]|Date\.now\b|new\s+Date\s*\(\s*\)|fetch\s*\()/g
  // Telling a person is a notifier's one task.
  const rooms = ['src/system', 'src/cli', 'src/main.ts', 'src/app.ts', 'plugins/notifiers']
  return files
    .filter(({ path }) => !rooms.includes(roomOf(path)))
    .flatMap(({ path, text }) => [...code(text).matchAll(outside)].map(([found]) => `${path}: ${found}`))
}

function tooLong(files: Source[]): string[] {
  return files
    .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    .filter(({ lines }) => lines > 350)
    .map(({ path, lines }) => `${path}: ${lines} lines`)
}

function barrels(files: Source[]): string[] {
  return files
    .filter(({ path }) => path !== 'src/api/index.ts' && path !== 'plugins/index.ts')
    .filter(({ path, text }) => {
      const own = text
        .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
        .replace(/^(?:import|export)\b[^;'"]*?from\s*'[^']*'|^import\s*'[^']*'/gm, '')
      return path.endsWith('/index.ts') || (own.trim() === '' && /^export\b/m.test(text))
    })
    .map(({ path }) => path)
}

function untyped(files: Source[]): string[] {
  return files
    .filter(({ path }) => path !== 'src/api/plugin.ts')
    .filter(
      ({ text }) => /@ts-(?:ignore|expect-error|nocheck)/.test(text) || /(?<![.\w$])any\b/.test(code(text)),
    )
    .map(({ path }) => path)
}

/** The text without comments and without what stands in quotes. Types stay. */
function code(text: string): string {
  return text
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g, (found) =>
      found.startsWith('/') ? '' : "''",
    )
    .replace(/`(?:[^`\\$]|\\.|\$(?!\{))*`/g, "''")
}

interface Import {
  name: string
  dynamic: boolean
  typeOnly: boolean
}

function importsOf(text: string): Import[] {
  const statement = /^(?:import|export)\s+(type\s+)?[^;'"`]*?from\s*'([^']+)'|^import\s+'([^']+)'/gm
  const call = /\bimport\s*\(\s*'([^']+)'\s*\)/g
  return [
    ...[...text.matchAll(statement)].map(([, type, name, bare]) => ({
      name: name ?? bare ?? '',
      dynamic: false,
      typeOnly: type !== undefined,
    })),
    ...[...text.matchAll(call)].map(([, name]) => ({ name: name ?? '', dynamic: true, typeOnly: false })),
  ]
}

/** `src/store/run.ts` lies in the room `src/store`; a file at the top is a room of its own. */
function roomOf(path: string): string {
  return path.split('/').slice(0, 2).join('/')
}

/** The names in the first fenced block, as paths without a `/` at the end: indentation nests, two spaces end the names. */
function treeNames(markdown: string): string[] {
  const block = /```\w*\n([\s\S]*?)```/.exec(markdown)?.[1] ?? ''
  const folders: { indent: number; path: string }[] = []
  return block
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => {
      const indent = line.search(/\S/)
      while ((folders.at(-1)?.indent ?? -1) >= indent) folders.pop()
      const parent = folders.at(-1)?.path ?? ''
      const names = (line.trim().split(/ {2,}/)[0] ?? '').split(' ')
      const paths = names.map((name) => posix.join(parent, name).replace(/\/$/, ''))
      if (names.length === 1 && names[0]?.endsWith('/')) folders.push({ indent, path: paths[0] ?? '' })
      return paths
    })
}

function read(folders: string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => posix.join(folder, name.replaceAll('\\', '/')))
      .sort()
      .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
  )
}

function foldersBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => posix.join(entry.parentPath.slice(root.length + 1).replaceAll('\\', '/'), entry.name))
}
