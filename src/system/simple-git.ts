import { existsSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** What simple-git could do on this machine. */
export interface SimpleGit {
  loads: boolean
  /** The branch that it says is checked out; null where it was not asked, or does not know. */
  branch: string | null
}

/**
 * Tries simple-git out, for `doctor` alone. Nothing else may load it: its addon is unpacked into the temporary folder,
 * and with the first repository that it opens it makes a `~/.gitconfig` where there is none. Here the unpacked file is
 * taken away again, and no repository is opened for a user who has no `~/.gitconfig`.
 */
export async function trySimpleGit(gitDir: string | null): Promise<SimpleGit> {
  try {
    const { Repository } = await import('@napi-rs/simple-git')
    removeUnpacked()
    const isSafe = gitDir !== null && existsSync(join(homedir(), '.gitconfig'))
    const branch = isSafe ? branchOf(() => new Repository(gitDir).head().name()) : null
    return { loads: true, branch }
  } catch {
    return { loads: false, branch: null }
  }
}

function branchOf(head: () => string | null | undefined): string | null {
  try {
    const name = head()
    return name?.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : null
  } catch {
    // A branch without a commit, or a way to store refs that it does not know.
    return null
  }
}

/** The addon is in memory by now; only Linux tells which file it came from. */
function removeUnpacked(): void {
  if (!existsSync('/proc/self/maps')) return
  for (const [, file = ''] of readFileSync('/proc/self/maps', 'utf8').matchAll(
    / (\/.*\/\.bun-[^/\n]*\.node)$/gm,
  )) {
    rmSync(file, { force: true })
  }
}
