import { expect, test } from 'bun:test'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { AutomatonError } from '../../src/errors.ts'
import { checkName, findProject, homeFolder, loopPlaces, taskPlaces } from '../../src/store/layout.ts'
import { tempDir } from '../helpers/temp.ts'

/** A person's folder tree: folders end in `/`, the rest are files. Answers with paths below `~`. */
function tree(...paths: string[]) {
  const dir = tempDir()
  for (const path of paths) {
    const place = join(dir.path, path)
    mkdirSync(path.endsWith('/') ? place : dirname(place), { recursive: true })
    if (!path.endsWith('/')) writeFileSync(place, 'gitdir: elsewhere\n')
  }
  const at = (path: string) => join(dir.path, path)
  const find = (cwd: string, flag?: string, home = at('.automaton')) => {
    mkdirSync(at(cwd), { recursive: true })
    try {
      const { root, isHome } = findProject({ cwd: at(cwd), home, flag })
      return `${root.slice(dir.path.length + 1) || '~'}${isHome ? ' (home)' : ''}`
    } catch (error) {
      if (error instanceof AutomatonError) return error.code
      throw error
    }
  }
  return { at, find, [Symbol.dispose]: () => dir[Symbol.dispose]() }
}

test('HOME is what AUTOMATON_HOME says, else .automaton in the user’s home', () => {
  expect(homeFolder({ AUTOMATON_HOME: '/srv/a/../b' }, '/home/pat')).toBe('/srv/b')
  expect(homeFolder({}, '/home/pat')).toBe('/home/pat/.automaton')
  expect(homeFolder({ AUTOMATON_HOME: '' }, '/home/pat')).toBe('/home/pat/.automaton')
  expect(() => homeFolder({ AUTOMATON_HOME: 'here' }, '/home/pat')).toThrow('it is a relative path')
})

test('a repository is a project from anywhere inside of it', () => {
  using t = tree('repo/.git/')
  expect(t.find('repo')).toBe('repo')
  expect(t.find('repo/src/deep')).toBe('repo')
})

test('a linked worktree of a person, with a .git file, is its own project', () => {
  using t = tree('repo/.git/', 'repo/trees/one/.git')
  expect(t.find('repo/trees/one/src')).toBe('repo/trees/one')
})

test('the nearest folder with .automaton up to the toplevel wins over the toplevel, and none above it counts', () => {
  using t = tree('outer/.automaton/', 'outer/repo/.git/', 'outer/repo/pkg/.automaton/')
  expect(t.find('outer/repo/pkg/src')).toBe('outer/repo/pkg')
  expect(t.find('outer/repo/other')).toBe('outer/repo')
  expect(t.find('outer/elsewhere')).toBe('outer')
})

test('a folder in .automaton belongs to the project around it', () => {
  using t = tree('repo/.git/', 'repo/.automaton/tasks/fix-it/')
  expect(t.find('repo/.automaton/tasks/fix-it')).toBe('repo')
  expect(t.find('repo/.automaton/loops/nightly/outputs')).toBe('repo')
})

test('from inside a loop’s worktree the project is the loop’s, whatever the worktree holds', () => {
  const worktree = 'repo/.automaton/loops/nightly/worktree'
  using t = tree('repo/.git/', `${worktree}/.git`, `${worktree}/.automaton/`)
  expect(t.find(worktree)).toBe('repo')
  expect(t.find(`${worktree}/src/deep`)).toBe('repo')
  expect(t.find(`${worktree}/.automaton/loops/fake/worktree`)).toBe('repo')
})

test('HOME is a project inside of it, also when it does not exist, and a repository inside of it is its own', () => {
  using t = tree('.automaton/.automaton/', '.automaton/code/.git/')
  expect(t.find('.automaton')).toBe('.automaton (home)')
  expect(t.find('.automaton/tasks/x')).toBe('.automaton (home)')
  expect(t.find('.automaton/.automaton/loops/self/worktree/src')).toBe('.automaton (home)')
  expect(t.find('.automaton/code/src')).toBe('.automaton/code')
  rmSync(t.at('.automaton'), { recursive: true })
  expect(t.find('x')).toBe('no_project')
})

test('HOME never makes the folder around it a project', () => {
  using t = tree('.automaton/.automaton/', 'code/repo/.git/')
  expect(t.find('')).toBe('no_project')
  expect(t.find('docs')).toBe('no_project')
  expect(t.find('code/repo')).toBe('code/repo')
  expect(t.find('docs', t.at(''))).toBe('usage')
  mkdirSync(t.at('.git'))
  expect(t.find('docs')).toBe('usage')
})

test('HOME behind a link is the same HOME', () => {
  using t = tree('data/home/', 'work/.git/')
  symlinkSync(t.at('data/home'), t.at('.automaton'))
  expect(t.find('docs')).toBe('no_project')
  expect(t.find('data/home/tasks')).toBe('data/home (home)')
})

test('a project behind a link is named by its real folder', () => {
  using t = tree('real/.git/', 'real/src/')
  symlinkSync(t.at('real'), t.at('link'))
  expect(t.find('link/src')).toBe('real')
  expect(t.find('', 'link')).toBe('real')
})

test('--project names the folder itself, relative to the working folder', () => {
  using t = tree('repo/.git/', 'repo/pkg/', '.automaton/')
  expect(t.find('repo', 'pkg')).toBe('repo/pkg')
  expect(t.find('repo', t.at('.automaton'))).toBe('.automaton (home)')
  expect(t.find('repo', 'nowhere')).toBe('usage')
  expect(t.find('repo', '')).toBe('usage')
})

test('outside of everything there is no project, and the error says where', () => {
  using t = tree('empty/')
  const call = () => findProject({ cwd: t.at('empty'), home: t.at('.automaton') })
  expect(call).toThrow(`not in a project (${t.at('empty')})`)
})

test('tasks lie in .automaton, and for HOME beside it; loops always in it', () => {
  using t = tree('repo/.git/', '.automaton/')
  const home = t.at('.automaton')
  const repo = findProject({ cwd: t.at('repo'), home })
  const self = findProject({ cwd: home, home })
  expect(taskPlaces(repo, 'fix-it').state).toBe(t.at('repo/.automaton/tasks/fix-it/.state'))
  expect(taskPlaces(self, 'fix-it').brief).toBe(t.at('.automaton/tasks/fix-it/TASK.md'))
  expect(loopPlaces(repo, 'nightly').state).toBe(t.at('repo/.automaton/loops/nightly/.state.loop'))
  expect(loopPlaces(self, 'nightly').lock).toBe(t.at('.automaton/.automaton/loops/nightly/.state.lock'))
  expect(repo.cache).toBe(t.at('repo/.automaton/cache'))
})

test('names are short, lower-case and no device of Windows', () => {
  for (const name of ['a', '0', 'fix-login', 'com10', 'console', 'a'.repeat(63)])
    expect(checkName('loop', name)).toBe(name)
  const bad = [
    '',
    '-a',
    'A',
    'a b',
    'a/b',
    '..',
    'a.b',
    'é',
    'a\n',
    'a'.repeat(64),
    'con',
    'nul',
    'com1',
    'lpt9',
    'aux',
    'prn',
  ]
  for (const name of bad) expect(() => checkName('task', name)).toThrow('bad task name')
})
