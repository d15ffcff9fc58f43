import { existsSync, mkdirSync, realpathSync, rmdirSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { errors } from '../../errors.ts'
import { which } from '../process.ts'
import { removeTree } from '../remove.ts'
import { bwrapArgs } from './bwrap.ts'
import { type Entry, sandboxVerb } from './enter.ts'
import { type Ground, groundOf, hidingIn, holesIn, type Rule } from './ground.ts'
import { hidingNote, landlockHole, policyNotes } from './notes.ts'
import type { SandboxPolicy } from './policy.ts'
import { seatbeltProfile } from './seatbelt.ts'
import type { SandboxChoice } from './tier.ts'

/** A session's command, and the sandbox that it is to run in. */
export interface WrapRequest {
  choice: SandboxChoice
  policy: SandboxPolicy
  argv: readonly string[]
  /** The PATH of the session's environment, in which the program is looked for. */
  path: string
  /** Program and arguments that start this automaton again. */
  self: readonly string[]
}

/** A command that runs in the sandbox. */
export interface WrappedCommand extends Disposable {
  argv: string[]
  /** Variables to add to the session's own. */
  env: Record<string, string>
  /** What this kind of sandbox cannot hold, for a person to know. */
  notes: string[]
  /** Takes away the private temporary folder. To be called when the session's processes have ended. Never throws. */
  cleanup(): void
}

/** A command without a sandbox. */
export function unwrapped(argv: readonly string[]): WrappedCommand {
  return wrapped({ argv: [...argv], env: {}, notes: [], cleanup: () => {} })
}

/**
 * Puts a command into the sandbox. The program is looked up here: the sandbox's own search would blame the wrong file.
 * Throws `command_not_found` or `cannot_run` for a program that is not there, and `cannot_run` when the temporary
 * folder or one of the harness's folders cannot be made.
 */
export function wrapCommand(request: WrapRequest): WrappedCommand {
  const { choice, policy, argv } = request
  if (choice.kind === 'none') return unwrapped(argv)
  const program = [findProgram(request), ...argv.slice(1)]
  const ground = prepare(policy)
  const masks = ground.rules.filter((rule) => rule.kind === 'missing').map((rule) => rule.path)
  const notes = policyNotes(policy)
  const cleanup = () => {
    quietly(() => removeTree(ground.tmp))
    // Bubblewrap leaves the empty folders that it put in the place of missing ones.
    for (const mask of masks) quietly(() => rmdirSync(mask))
  }
  if (choice.kind === 'bwrap') {
    const tmpRoot = realpathSync('/tmp')
    const root = process.getuid?.() === 0
    const bwrap = choice.program ?? 'bwrap'
    const seen = { ...ground, visible: [...ground.visible, ...selfPaths(request.self)] }
    const args = bwrapArgs({ bwrap, env: choice.env, ground: seen, tmpRoot, argv: program, root })
    return wrapped({
      argv: args,
      env: { TMPDIR: args.includes(ground.tmp) ? tmpRoot : ground.tmp },
      notes,
      cleanup,
    })
  }
  const env = { TMPDIR: ground.tmp }
  if (choice.kind === 'seatbelt') {
    const args = [choice.program ?? 'sandbox-exec', '-p', seatbeltProfile(ground), ...program]
    return wrapped({ argv: args, env, notes, cleanup })
  }
  const held = withoutHiding(ground, policy, notes)
  notes.push(...holesIn(held.rules).map((rule) => landlockHole(rule, policy.programs)))
  return wrapped({ argv: landlockArgs(request.self, held, program), env, notes, cleanup })
}

/** Under Landlock whoever may write a folder may move what is hidden in it to where it can be read. */
function withoutHiding(ground: Ground, policy: SandboxPolicy, notes: string[]): Ground {
  const found = hidingIn(ground.rules, policy.makes)
  notes.push(...found.map(hidingNote))
  const isGiven = ({ path }: Rule) => !found.some(({ folder }) => folder === path)
  return { ...ground, rules: ground.rules.filter(isGiven) }
}

/**
 * The binary loads nothing from where it is started. Run from its sources, automaton starts again in the root folder:
 * the runtime would take a `bunfig.toml` or `.env` that a session left in the worktree, and outside of the sandbox.
 */
function landlockArgs(self: readonly string[], ground: Ground, program: readonly string[]): string[] {
  const entry: Entry = { parent: process.pid, ground: { ...ground, visible: [] } }
  const again = [...self, sandboxVerb, JSON.stringify(entry), ...program]
  return self.length === 1
    ? again
    : ['/bin/sh', '-c', 'cd / && unset PWD OLDPWD && exec "$@"', 'sh', ...again]
}

function prepare(policy: SandboxPolicy): Ground {
  try {
    // Not one that is there: somebody else could have made it.
    mkdirSync(policy.tmp, { mode: 0o700 })
  } catch (error) {
    throw errors.cannotRun(
      policy.tmp,
      `the temporary folder cannot be made: ${reason(error)}`,
      'automaton doctor',
    )
  }
  try {
    return groundOf(policy)
  } catch (error) {
    quietly(() => removeTree(policy.tmp))
    throw errors.cannotRun(
      'sandbox',
      `a folder of the harness cannot be made: ${reason(error)}`,
      'automaton doctor',
    )
  }
}

function findProgram({ argv, path, policy }: WrapRequest): string {
  const named = argv[0] ?? ''
  const fromFolder = !isAbsolute(named) && named.includes('/')
  const found = which(fromFolder ? resolve(policy.cwd, named) : named, path)
  if (found !== null) return found
  if (!fromFolder && !isAbsolute(named)) throw errors.commandNotFound(named, path)
  const file = resolve(policy.cwd, named)
  if (existsSync(file)) throw errors.cannotRun(file, 'it is not executable', `chmod +x ${file}`)
  throw errors.cannotRun(file, 'there is no such file', 'correct the path, or install the program')
}

function selfPaths(self: readonly string[]): string[] {
  return self.filter((word) => isAbsolute(word) && existsSync(word)).map((word) => realpathSync(word))
}

function wrapped(parts: Omit<WrappedCommand, typeof Symbol.dispose>): WrappedCommand {
  return { ...parts, [Symbol.dispose]: parts.cleanup }
}

/** What a session left may be hard to remove; that is no reason to fail a tick. */
function quietly(act: () => void): void {
  try {
    act()
  } catch {
    // The system's own cleaning of temporary folders takes it later.
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
