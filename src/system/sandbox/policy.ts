import { dirname, isAbsolute, join } from 'node:path'
import { isWithin } from './paths.ts'
import { judgeWrites, looseNames, programsIn, type RefusedWrite } from './writes.ts'

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
  /** The project's folder. */
  root: string
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
  /** What other loops' harnesses declare. */
  otherWrites: readonly string[]
  /** Program and arguments that start this automaton. */
  self: readonly string[]
  /** The folders in which automaton, the session and the person look for programs; those that are relative do not count. */
  path: readonly string[]
  /** The folders that all programs share for temporary files. */
  temporary: readonly string[]
  /** Where a path leads when all links on the way are followed, as far as it exists. */
  real: (path: string) => string
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
  /** The harness's folders among `writable`, free of links: they are made when missing. */
  makes: string[]
  /** Folders of PATH in those, free of links: read-only, and made when missing, so that nobody else can. */
  programs: string[]
  /** Folders of PATH, as they are named there, that a session could have lead elsewhere. */
  loose: string[]
  readOnly: string[]
  /** Secrets, and sockets through which something outside of the sandbox could be made to act. */
  hidden: string[]
  /** Read by the session, wherever a private temporary folder would cover it. */
  visible: string[]
  /** Folders that the harness declared and does not get. */
  refused: RefusedWrite[]
}

/**
 * Draws the sandbox: only the worktree, the papers, a private temporary folder and the harness's own folders can be
 * changed; never git's folders or automaton's, because automaton commits and sessions do not. Looks at no disk but
 * by `real`.
 */
export function policyFor(input: PolicyInput): SandboxPolicy {
  const { worktree, userHome, real } = input
  const brakes = brakesOf(input)
  const hidden = unique([...secretsOf(userHome), ...socketsOf(input.uid)])
  const path = unique(input.path.filter((folder) => isAbsolute(folder)))
  const { temporary, harnessWrites: declared, otherWrites: others } = input
  const kept = keptWhole(input)
  const writes = { declared, userHome, worktree, brakes, kept, hidden, temporary, path, others, real }
  const { given: makes, refused } = judgeWrites(writes)
  const papers = isWithin(input.runFolder, worktree) ? [] : [input.runFolder]
  return {
    cwd: input.cwd,
    tmp: input.tmp,
    writable: unique([worktree, ...papers, ...makes]),
    makes,
    programs: programsIn(makes, writes),
    loose: looseNames(makes, writes),
    readOnly: brakes,
    hidden,
    visible: unique([input.cwd, userHome, worktree, ...brakes]),
    refused,
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

/** What no harness's folder may hold. The worktree is not among them: it is open already. */
function keptWhole(input: PolicyInput): string[] {
  const { root, automaton, automatonHome, loopDir, commonDir, worktreeGitDir, userHome } = input
  const git = [commonDir, worktreeGitDir].filter((folder) => folder !== null)
  const programs = input.self.filter((word) => isAbsolute(word))
  return unique([
    userHome,
    root,
    automaton,
    automatonHome,
    loopDir,
    ...git,
    ...programs,
    ...programs.map((file) => dirname(input.real(file))),
  ])
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)]
}
