import { existsSync } from 'node:fs'
import { AutomatonError } from '../../errors.ts'
import { exec } from '../exec.ts'
import { ownProgram } from '../own-programs.ts'
import { bwrapArgs } from './bwrap.ts'
import type { Ground } from './ground.ts'
import { landlockAbi, leastAbi } from './landlock.ts'
import { seatbeltProfile } from './seatbelt.ts'

/** What sessions are locked in by. */
export interface SandboxChoice {
  /** `T0`: changes out of scope are noticed and halt the loop. `T1`: they are prevented. */
  tier: 'T0' | 'T1'
  kind: 'none' | 'bwrap' | 'landlock' | 'seatbelt'
  /** A sentence for `status` and `doctor`, without a final period. */
  why: string
  /** The program that makes the sandbox, absolute; null where automaton does it itself or nobody does. */
  program: string | null
  /** For bubblewrap: see {@link BwrapCall.env}. */
  env: string | null
}

/** What {@link findSandbox} looks at. */
export interface SandboxSearch {
  /** The folders in which `bwrap` is looked for. */
  path: string
  mode: 'auto' | 'required' | 'off'
  /** Default: this system. */
  platform?: NodeJS.Platform
}

/**
 * The best sandbox that works here, tried out by starting a program in it. With `required`, a `T0` answer is for the
 * caller to refuse. Takes some milliseconds; the answer holds for one tick, not longer.
 */
export async function findSandbox(search: SandboxSearch): Promise<SandboxChoice> {
  const platform = search.platform ?? process.platform
  if (search.mode === 'off') return none('blast_radius.sandbox is "off"')
  if (platform === 'linux') return linux(search.path)
  if (platform === 'darwin') return mac()
  return none(`there is no sandbox for sessions on ${platform === 'win32' ? 'Windows' : platform}`)
}

/** What a person can do where there is none. */
export const sandboxFix =
  process.platform === 'linux' ? 'install bubblewrap' : 'run automaton in a container or a virtual machine'

/** Where macOS keeps its tool. */
const seatbeltProgram = '/usr/bin/sandbox-exec'

async function linux(path: string): Promise<SandboxChoice> {
  const bwrap = await bubblewrap(path)
  if (typeof bwrap !== 'string') return bwrap
  const abi = landlockAbi()
  if (abi >= leastAbi)
    return {
      tier: 'T1',
      kind: 'landlock',
      why: `${bwrap}; Landlock (version ${abi}) is used, which cannot protect ${unprotected(abi)}`,
      program: null,
      env: null,
    }
  const landlock =
    abi === 0 ? 'the kernel has no Landlock' : `Landlock has version ${abi}, and ${leastAbi} is needed`
  return none(`${bwrap}, and ${landlock}`)
}

/** Before version 9 a session may talk to services that start programs for it: containers, the user's own systemd. */
function unprotected(abi: number): string {
  return abi < 9 ? "a worktree's .git file, nor close the sockets of services" : "a worktree's .git file"
}

/** The choice, or why bubblewrap cannot be it. */
async function bubblewrap(path: string): Promise<SandboxChoice | string> {
  const program = ownProgram('bwrap', path)
  if (program === null) return 'bubblewrap is in no folder of PATH'
  const env = ownProgram('env', path)
  const attempt = async (patient: string | null) => {
    const root = process.getuid?.() === 0
    const argv = [ownProgram('true', path) ?? '/bin/true']
    return tryOut(bwrapArgs({ bwrap: program, env: patient, ground: nowhere, tmpRoot: null, argv, root }))
  }
  const first = await attempt(env)
  const failed = first === null || env === null ? first : await attempt(null)
  if (failed !== null) return `bubblewrap does not work here (${failed})`
  return {
    tier: 'T1',
    kind: 'bwrap',
    why: `bubblewrap (${program}) is used`,
    program,
    env: first === null ? env : null,
  }
}

async function mac(): Promise<SandboxChoice> {
  if (!existsSync(seatbeltProgram)) return none(`${seatbeltProgram} is missing`)
  const failed = await tryOut([seatbeltProgram, '-p', seatbeltProfile(nowhere), '/usr/bin/true'])
  if (failed !== null) return none(`${seatbeltProgram} does not work here (${failed})`)
  return {
    tier: 'T1',
    kind: 'seatbelt',
    why: `${seatbeltProgram} is used`,
    program: seatbeltProgram,
    env: null,
  }
}

const nowhere: Ground = { cwd: '/', tmp: '/nowhere', visible: [], rules: [] }

function none(why: string): SandboxChoice {
  return { tier: 'T0', kind: 'none', why, program: null, env: null }
}

/** Null when the command succeeds, else the last thing that it said. */
async function tryOut(argv: string[]): Promise<string | null> {
  try {
    const done = await exec({ argv, cwd: '/', env: {}, timeoutMs: 5000, graceMs: 0 })
    if (done.exitCode === 0) return null
    return (
      done.stderr.trim().split('\n').at(-1)?.slice(0, 200) || `it ended with ${done.exitCode ?? done.signal}`
    )
  } catch (error) {
    if (error instanceof AutomatonError) return error.message
    throw error
  }
}
