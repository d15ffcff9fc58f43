import { gitText } from './git.ts'
import { privateGit } from './private.ts'
import type { Repository } from './repository.ts'

/** A commit that a tick of a loop made. */
export interface OwnCommit {
  /** The tick's run, as its trailer says. */
  run: string
  /** Seconds since the epoch. */
  at: number
}

const most = 1000

/**
 * The commits that ticks of a loop made on its branch, newest first: what lies on the branch's own line above commits that
 * are known. Commits that a person made, merged, or wrote anew are none, whatever trailers they carry.
 */
export async function ownCommits(o: {
  repo: Repository
  loop: string
  tip: string
  known: readonly string[]
}): Promise<OwnCommit[]> {
  // Settings of the repository would have a say in what a trailer is.
  await using own = privateGit({ repo: o.repo, persist: false })
  const trailer = (key: string) => `%(trailers:key=${key},valueonly,separator=%x2C)`
  const format = ['%ce', '%ct', trailer('Automaton-Loop'), trailer('Automaton-Run')].join('%x1f')
  const args = [
    'log',
    '-z',
    '--first-parent',
    '--ignore-missing',
    `--max-count=${most}`,
    `--format=${format}`,
  ]
  const text = await gitText(own.place, [...args, o.tip, ...o.known.map((id) => `^${id}`), '--'])
  return text.split('\0').flatMap((entry) => {
    const [committer, at, loop, run = ''] = entry.trim().split('\x1f')
    return committer === 'automaton@localhost' && loop === o.loop && run !== ''
      ? [{ run, at: Number(at) }]
      : []
  })
}
