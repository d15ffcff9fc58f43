import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { driftOf } from '../../system/drift.ts'
import { requireGit, resolveCommit } from '../../system/git.ts'
import { findRepository } from '../../system/repository.ts'
import { ensureWorktree } from '../../system/worktree.ts'
import { commitAll } from '../commit-all.ts'
import { type Bench, expect } from './bench.ts'

const text = 'one line\n'

/** A worktree is made from a commit, on a branch of its own. */
export async function worktree(bench: Bench): Promise<string> {
  const { path } = await makeWorktree(bench)
  expect(readFileSync(join(path, 'file.txt'), 'utf8') === text, 'a file in the worktree is not as committed')
  return `git ${requireGit()} made one with the files as committed`
}

/** What changes in a worktree is seen, and whether it is in scope; what does not change is not. */
export async function drift(bench: Bench): Promise<string> {
  const { repo, path, base } = await makeWorktree(bench)
  const look = async () => {
    await using seen = await driftOf({ repo, worktree: path, base, fileScope: ['src/'], persist: false })
    return { changes: seen.changes.length, out: seen.outOfScope.join(', ') }
  }
  const clean = await look()
  expect(clean.changes === 0, `${clean.changes} changes are seen where there are none`)
  writeFileSync(join(path, 'file.txt'), 'another\n')
  mkdirSync(join(path, 'src'))
  writeFileSync(join(path, 'src', 'new.txt'), text)
  const changed = await look()
  expect(changed.changes === 2, `${changed.changes} changes are seen where there are 2`)
  expect(changed.out === 'file.txt', `out of scope should be file.txt, and is: ${changed.out || 'nothing'}`)
  return 'a change in scope and one out of scope were told apart'
}

async function makeWorktree({ app, folder }: Bench) {
  const root = join(folder, 'repository')
  const path = join(folder, 'loop', 'worktree')
  for (const dir of [root, join(folder, 'loop')]) mkdirSync(dir)
  writeFileSync(join(root, 'file.txt'), text)
  await commitAll({ path: app.env.PATH ?? '', cwd: root, message: 'One file' })
  const repo = findRepository(root)
  expect(repo !== null, 'git made no repository')
  const base = await resolveCommit(repo, 'refs/heads/main')
  expect(base !== null, 'git made a repository without a commit')
  await ensureWorktree({ repo, path, branch: 'automaton/self-check', base })
  return { repo, path, base }
}
