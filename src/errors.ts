/** Exit codes of the contract (section 2). */
export const exitCodes = {
  ok: 0,
  bug: 1,
  usage: 2,
  refused: 3,
  halted: 4,
  environment: 5,
  forbidden: 6,
  interrupted: 130,
  terminated: 143,
} as const

/** One of {@link exitCodes}. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Automaton could not do its own job; a failed verdict, a halt or a refused gate is a value instead. */
export class AutomatonError extends Error {
  override readonly name = 'AutomatonError'
  constructor(
    /** Stable, for programs. */
    readonly code: string,
    /** What failed and where: `<what> (<file or command>): <why>`. */
    message: string,
    /** One thing to do. */
    readonly fix: string,
    readonly exit: ExitCode,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

type Factory = (...args: never[]) => AutomatonError

const bad = (code: string, message: string, fix: string) => new AutomatonError(code, message, fix, 2)
const refused = (code: string, message: string, fix: string) => new AutomatonError(code, message, fix, 3)
const environment = (code: string, message: string, fix: string, cause?: unknown) =>
  new AutomatonError(code, message, fix, 5, { cause })
/** What there is, after the one that was probably meant. */
const meant = (near: string | null, known: string) =>
  near === null ? known : `did you mean "${near}"? ${known}`
const pluginNamed = (role: string, near: string | null) => {
  if (role === 'scheduler')
    return 'put its plugin back, or: automaton install-schedule <loop> --scheduler NAME'
  const file = role === 'hooks' ? '.automaton/config.json' : 'loop.json'
  return near === null ? `name one of them in ${file}` : `write "${near}" in ${file}`
}
const forbidden = (code: string, message: string, fix: string) => new AutomatonError(code, message, fix, 6)

/** Every error that automaton can end with, alphabetical. Each has a test that shows its text. */
export const errors = {
  approvalRefused: (loop: string, why: string, fix: string) =>
    refused('approval_refused', `approval refused (${loop}): ${why}`, fix),
  badConfig: (file: string, path: string, found: string, allowed: string) =>
    bad(
      'bad_config',
      `bad configuration (${file}): ${path} is ${found}; allowed: ${allowed}`,
      `edit ${path} in ${file}`,
    ),
  badName: (kind: 'loop' | 'task' | 'plugin', name: string) =>
    bad(
      'bad_name',
      `bad ${kind} name (${JSON.stringify(name)}): a name is 1 to 63 of a-z, 0-9 and -, starts with a letter or digit, and is no Windows device name`,
      `choose a name such as "nightly" or "fix-login"`,
    ),
  badValue: (what: string, where: string, why: string, fix: string) =>
    bad('bad_value', `${what} (${where}): ${why}`, fix),
  branchUnusable: (branch: string, why: string, fix: string) =>
    environment('branch_unusable', `branch cannot be used (${branch}): ${why}`, fix),
  busy: (loop: string, holder: string) =>
    refused('busy', `loop is busy (${loop}): ${holder}`, 'wait for the tick to end, then try again'),
  cannotRun: (program: string, why: string, fix: string) =>
    environment('cannot_run', `cannot run (${program}): ${why}`, fix),
  claimedByOther: (task: string, owner: string) =>
    refused(
      'claimed',
      `task is claimed (${task}): ${owner} has it`,
      `automaton release ${task}, if ${owner} is done with it`,
    ),
  cloneFailed: (url: string, why: string) =>
    environment(
      'clone_failed',
      `cannot read your repository (${url}): ${why}`,
      'check the address, the network and your access, then run the installer again',
    ),
  commandNotFound: (program: string, path: string) =>
    environment(
      'command_not_found',
      `command not found (${program}): it is in no folder of PATH=${path}`,
      `install ${program}, or name it in loop.json by its absolute path`,
    ),
  commitLost: (loop: string, commit: string, repository: string) =>
    environment(
      'commit_lost',
      `commit is lost (${loop}): ${commit.slice(0, 12)}, which its branch goes on from, is no longer in ${repository}`,
      `automaton sync ${loop}`,
    ),
  durabilityUnknown: (file: string, why: string, cause?: unknown) =>
    environment(
      'durability_unknown',
      `written, but perhaps not to last a power cut (${file}): ${why}`,
      'check the disk, then run the command again',
      cause,
    ),
  exists: (kind: 'loop' | 'task' | 'file' | 'plugin', name: string, fix: string) =>
    bad('exists', `${kind} exists already (${name}): it was left as it is`, fix),
  folderMissing: (folder: string, what: string) =>
    environment(
      'folder_missing',
      `folder is missing (${folder}): ${what}`,
      'make the folder, or run from another one',
    ),
  gitFailed: (command: string, why: string) =>
    environment('git_failed', `git failed (${command}): ${why}`, 'automaton doctor'),
  gitLocked: (file: string, remove: string) =>
    environment(
      'git_locked',
      `git is locked (${file}): a git process may be running`,
      `if no git process runs: ${remove}`,
    ),
  gitMissing: () =>
    environment(
      'git_missing',
      'git not found (git): it is in no folder of PATH',
      'install git 2.38 or newer',
    ),
  gitTooOld: (found: string, needed: string) =>
    environment(
      'git_too_old',
      `git is too old (git ${found}): automaton needs ${needed} or newer`,
      `install git ${needed} or newer`,
    ),
  homeChanged: (home: string, files: string) =>
    environment(
      'home_changed',
      `update stopped (${home}): it would overwrite what you changed in ${files}`,
      `commit or undo your changes there, then run the installer again`,
    ),
  homeDiverged: (home: string, branch: string) =>
    environment(
      'home_diverged',
      `not a fast-forward (${home}): ${branch} has commits that its remote lacks, and the remote has others`,
      `git -C '${home}' pull --rebase, then run the installer again`,
    ),
  homeTaken: (home: string, why: string) =>
    bad(
      'home_taken',
      `cannot become your HOME (${home}): ${why}; it was left as it is`,
      `mv '${home}' '${home}.old', run the installer again, then copy over what you need`,
    ),
  inTick: (command: string) =>
    forbidden(
      'in_tick',
      `refused inside a tick (automaton ${command}): a session cannot change its own loop`,
      'end the session; a person runs this command later',
    ),
  intentExists: (path: string) =>
    forbidden(
      'intent_exists',
      `second operation refused (${path}): this session has already named one`,
      'end the session',
    ),
  intentRole: (command: string, role: string) =>
    forbidden(
      'intent_role',
      `refused (automaton ${command}): the ${role} session may not do this`,
      'leave it to the orchestrate session',
    ),
  linkedFolder: (folder: string) =>
    environment(
      'linked_folder',
      `folder is a link (${folder}): automaton writes only where the project itself is`,
      `remove the link, and put the folder that it leads to at its place`,
    ),
  noBaseBranch: (branch: string, repository: string) =>
    environment(
      'no_base_branch',
      `base branch not found (${branch}): ${repository} has no such branch`,
      'set blast_radius.base_branch in loop.json to a branch that exists',
    ),
  noCommits: (repository: string) =>
    environment(
      'no_commits',
      `repository has no commit yet (${repository}): there is nothing to branch from`,
      'git add -A && git commit --allow-empty -m "first commit"',
    ),
  noGitUrl: () =>
    bad(
      'no_git_url',
      'no git URL (automaton install): without a repository of yours, what automaton changes in its own files could not be undone',
      'make an empty repository, then: automaton install --git-url URL',
    ),
  noLoop: (loop: string, known: string, near: string | null = null) =>
    bad(
      'no_loop',
      `loop not found (${loop}): ${meant(near, known)}`,
      near === null ? `automaton create-loop ${loop} --from-template backlog` : `automaton status ${near}`,
    ),
  noProject: (cwd: string) =>
    bad(
      'no_project',
      `not in a project (${cwd}): there is no git repository and no .automaton folder here or above`,
      'cd to your repository, or pass --project DIR',
    ),
  noTask: (task: string, known: string, near: string | null = null) =>
    bad(
      'no_task',
      `task not found (${task}): ${meant(near, known)}`,
      near === null ? `automaton create-task ${task} --brief FILE` : `automaton task ${near}`,
    ),
  noTemplate: (template: string, known: string, near: string | null = null) =>
    bad(
      'no_template',
      `template not found (${template}): ${meant(near, known)}`,
      near === null ? 'choose one of these templates' : `write --from-template ${near}`,
    ),
  notGit: (folder: string) =>
    environment(
      'not_git',
      `not a git repository (${folder}): a worktree needs one`,
      `git init ${folder}, or create the loop with --no-worktree`,
    ),
  orphanLives: (loop: string, pids: readonly number[]) =>
    environment(
      'orphan_lives',
      `a session of a tick that died cannot be ended (${loop}): pid ${pids.join(', ')} still runs`,
      `end it by hand: kill -9 ${pids.join(' ')}`,
    ),
  pluginFailed: (
    plugin: string,
    stage: string,
    why: string,
    cause?: unknown,
    fix: string = 'automaton plugins',
  ) => environment('plugin_failed', `plugin "${plugin}" failed in ${stage}: ${why}`, fix, cause),
  pluginUnknown: (role: string, name: string, known: string, near: string | null = null) =>
    environment(
      'plugin_unknown',
      `unknown ${role} (${name}): ${meant(near, known)}`,
      pluginNamed(role, near),
    ),
  readFailed: (file: string, why: string, cause?: unknown) =>
    environment('read_failed', `cannot read (${file}): ${why}`, `look at ${file} and put it right`, cause),
  repositoryBroken: (folder: string, why: string, fix: string) =>
    environment('repository_broken', `repository cannot be used (${folder}): ${why}`, fix),
  scheduleFailed: (loop: string, scheduler: string, why: string, cause?: unknown) =>
    environment(
      'schedule_failed',
      `schedule not as asked (${loop}, by ${scheduler}): ${why}`,
      `put that right and run it again, or use automaton daemon ${loop}`,
      cause,
    ),
  schedulerMissing: (program: string) =>
    environment(
      'scheduler_missing',
      `no such program (${program}): the scheduler is driven by it`,
      `install ${program}, choose another with --scheduler, or use automaton daemon`,
    ),
  sessionLives: (loop: string) =>
    environment(
      'session_lives',
      `what a session started cannot be ended (${loop}): it was killed, and runs on or comes back`,
      `end it by hand (ps -ef shows what runs), then automaton status ${loop}`,
    ),
  stateDamaged: (file: string, why: string, loop: string) =>
    environment('state_damaged', `state cannot be read (${file}): ${why}`, `automaton repair ${loop}`),
  stateTampered: (file: string, why: string, loop: string) =>
    forbidden(
      'state_tampered',
      `state does not match its log (${file}): ${why}`,
      `look at what changed it, then: automaton repair ${loop}`,
    ),
  stateTooNew: (file: string, version: unknown) =>
    environment(
      'state_too_new',
      `state is from a newer automaton (${file}): schema_version ${String(version)}`,
      'update automaton',
    ),
  taskDamaged: (file: string, why: string) =>
    environment(
      'task_damaged',
      `task cannot be read (${file}): ${why}`,
      `correct ${file}, or remove its folder`,
    ),
  taskPhase: (task: string, verb: string, phase: string, fix: string) =>
    refused('task_phase', `cannot ${verb} (${task}): the task is in ${phase}`, fix),
  transitionRefused: (task: string, rule: string, why: string, fix: string) =>
    refused('transition_refused', `transition refused (${task}): ${rule}: ${why}`, fix),
  uninstallStopped: (loop: string, project: string, why: string) =>
    environment(
      'uninstall_stopped',
      `uninstall stopped (${loop} in ${project}): its schedule is still there: ${why}`,
      `automaton uninstall-schedule ${loop} --project '${project}', then automaton uninstall`,
    ),
  unsafeEnvironment: (name: string) =>
    forbidden(
      'unsafe_environment',
      `refused (${name} is set): it can load code into automaton`,
      `unset ${name}`,
    ),
  usage: (what: string, why: string, fix: string) => bad('usage', `${what}: ${why}`, fix),
  worktreeUnusable: (path: string, why: string, fix: string) =>
    environment('worktree_unusable', `worktree cannot be used (${path}): ${why}`, fix),
  writeFailed: (file: string, why: string, cause?: unknown) =>
    environment(
      'write_failed',
      `cannot write (${file}): ${why}`,
      'free space or make the folder writable; nothing was lost',
      cause,
    ),
  wrongStatus: (loop: string, verb: string, status: string, fix: string) =>
    refused('wrong_status', `cannot ${verb} (${loop}): the loop is ${status}`, fix),
} as const satisfies Record<string, Factory>
