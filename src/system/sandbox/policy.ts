import { isAbsolute, join, resolve } from 'node:path'
import { depth, isWithin } from './paths.ts'

/** What the sandbox of one session is drawn around; all paths absolute. */
export interface PolicyInput {
  /** The folder that the session may change: the loop's worktree, or the primary checkout. */
  worktree: string
  /** Where the session starts. */
  cwd: string
  /** The folder of the session's papers. */
  runFolder: string
  /** The git folder that all checkouts share; null without git. */
  commonDir: string | null
  /** The worktree's own git folder; null without one. */
  worktreeGitDir: string | null
  /** The project's `.automaton`. */
  automaton: string
  /** The HOME folder of automaton. */
  automatonHome: string
  loopDir: string
  /** The person's home. */
  userHome: string
  /** The user's number, for `/run/user/N`; null where users have none. */
  uid: number | null
  /** The folders that the harness must write; a leading `~/` means the person's home. */
  harnessWrites: readonly string[]
  /** A folder that does not exist yet; the session gets it as its temporary folder, and it goes with the session. */
  tmp: string
}

/**
 * What a session may touch. Of several paths that hold a file, the longest one decides; of the same path in two lists,
 * `readOnly` wins over `writable`, and that over `hidden`. What no list holds can be read and not changed.
 */
export interface SandboxPolicy {
  cwd: string
  tmp: string
  writable: string[]
  /** The harness's folders among `writable`: they are made when missing. */
  makes: string[]
  readOnly: string[]
  /** Secrets, and sockets through which something outside of the sandbox could be made to act. */
  hidden: string[]
  /** Read by the session, wherever a private temporary folder would cover it. */
  visible: string[]
  /** Folders that the harness declared and does not get, because they are among the brakes or hold the person's home. */
  refused: string[]
}

/**
 * Draws the sandbox: only the worktree, the papers, a private temporary folder and the harness's own folders can be
 * changed; never git's folders or automaton's, because automaton commits and sessions do not. Looks at no disk.
 */
export function policyFor(input: PolicyInput): SandboxPolicy {
  const { worktree, userHome } = input
  const brakes = brakesOf(input)
  const declared = input.harnessWrites.map((path) => ({ path, full: fullPath(path, userHome) }))
  const refused = declared.filter(({ full }) => full === null || isRefused(full, input, brakes))
  const given = declared.filter((one) => !refused.includes(one)).map(({ full }) => full ?? '')
  // What lies in another one is open already; as a rule of its own it would follow a link that a session put there.
  const makes = unique(given).filter(
    (path) => ![worktree, ...given].some((other) => other !== path && isWithin(path, other)),
  )
  const papers = isWithin(input.runFolder, worktree) ? [] : [input.runFolder]
  return {
    cwd: input.cwd,
    tmp: input.tmp,
    writable: unique([worktree, ...papers, ...makes]),
    makes,
    readOnly: brakes,
    hidden: unique([...secretsOf(userHome), ...socketsOf(input.uid)]),
    visible: unique([input.cwd, userHome, worktree, ...brakes]),
    refused: refused.map(({ path }) => path),
  }
}

/** In a person's home: keys, tokens, browser profiles. Also read by the tests. */
export const secretPlaces: readonly string[] = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.netrc', '.git-credentials', '.vault-token'],
  ...['.pypirc', '.password-store', '.Xauthority', '.cargo/credentials', '.cargo/credentials.toml'],
  ...['.config/gh', '.config/hub', '.config/glab-cli', '.config/git/credentials', '.config/gcloud'],
  ...['.config/op', '.config/rclone', '.config/sops', '.terraform.d', '.local/share/keyrings'],
  ...['.mozilla', '.thunderbird', '.config/google-chrome', '.config/chromium', '.config/BraveSoftware'],
  ...[
    'Library/Keychains',
    'Library/Application Support/Google/Chrome',
    'Library/Application Support/Firefox',
  ],
]

/** Who may connect to one of these can have programs started outside of the sandbox. */
const sockets = [
  ...['/run/docker.sock', '/run/podman', '/run/containerd', '/run/crio', '/run/libvirt', '/run/screen'],
  ...['/var/run/docker.sock', '/var/lib/lxd', '/var/snap/lxd/common/lxd', '/var/lib/incus'],
]

/** To root these do what to others a password would be asked for. */
const rootSockets = ['/run/systemd/private', '/run/dbus/system_bus_socket']

function secretsOf(userHome: string): string[] {
  return secretPlaces.map((place) => join(userHome, place))
}

function socketsOf(uid: number | null): string[] {
  if (uid === null) return sockets
  return [...sockets, `/run/user/${uid}`, ...(uid === 0 ? rootSockets : [])]
}

function brakesOf(input: PolicyInput): string[] {
  const { commonDir, worktreeGitDir, automaton, automatonHome, loopDir, worktree } = input
  const git = commonDir === null ? [] : [commonDir, join(worktree, '.git')]
  return unique([
    automaton,
    automatonHome,
    loopDir,
    ...git,
    ...(worktreeGitDir === null ? [] : [worktreeGitDir]),
  ])
}

function fullPath(path: string, userHome: string): string | null {
  if (path.startsWith('~/')) return resolve(userHome, path.slice(2))
  return isAbsolute(path) ? resolve(path) : null
}

function isRefused(path: string, { worktree, userHome }: PolicyInput, brakes: readonly string[]): boolean {
  if (isWithin(userHome, path)) return true
  const holders = [worktree, ...brakes].filter((folder) => isWithin(path, folder))
  const closest = holders.sort((a, b) => depth(b) - depth(a))[0]
  return closest !== undefined && (closest !== worktree || brakes.includes(worktree))
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)]
}
