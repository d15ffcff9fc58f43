import { errors } from '../errors.ts'
import { exec } from '../system/exec.ts'

/** A throwaway repository to make, for the demo and the self-check. */
export interface CommitAllOptions {
  /** The PATH that git is looked for in. */
  path: string
  /** The folder that becomes a repository, with all that is in it. */
  cwd: string
  message: string
}

/** Makes a folder a repository with one commit on `main`, whatever git is set to. Throws `git_failed`. */
export async function commitAll({ path, cwd, message }: CommitAllOptions): Promise<void> {
  const env = { PATH: path, HOME: cwd, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const as = ['-c', 'user.name=Demo', '-c', 'user.email=demo@localhost']
  for (const args of [
    ['init', '-q', '-b', 'main'],
    ['add', '-A'],
    [...as, 'commit', '-qm', message],
  ]) {
    const run = await exec({ argv: ['git', ...args], cwd, env })
    if (run.exitCode !== 0) throw errors.gitFailed(`git ${args.join(' ')}`, run.stderr.trim())
  }
}
