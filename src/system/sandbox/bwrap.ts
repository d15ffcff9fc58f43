import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { anchorsOf, type Ground, type Rule } from './ground.ts'
import { depth, isWithin } from './paths.ts'

/** One call of bubblewrap. */
export interface BwrapCall {
  /** The `bwrap` program, absolute. */
  bwrap: string
  /** An `env` that can set how signals are taken, or null: then the session is given no time to end by itself. */
  env: string | null
  ground: Ground
  /** The folder that every program takes for temporary files, and that the private one covers; null: none is covered. */
  tmpRoot: string | null
  /** The program, absolute, and its arguments. */
  argv: readonly string[]
  /** True when the user is root, whose rights have to be taken away one by one. */
  root: boolean
}

/**
 * The arguments that start a program in bubblewrap: the whole disk read-only, then one mount for each rule, folders
 * before what they hold. Processes live in a namespace of their own that ends with the program, and with automaton.
 * To be started in a session of its own, so that no terminal is in reach.
 * The network stays open: an agent has to reach its model.
 */
export function bwrapArgs(call: BwrapCall): string[] {
  const { ground, argv } = call
  const patient = patience(call)
  return [
    ...patient.outside,
    call.bwrap,
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    // Root may write these whatever else is taken from it, and one of them names a program for the kernel to run.
    ...['--ro-bind', '/proc/sys', '/proc/sys'],
    ...mounts(call),
    ...['--unshare-pid', '--unshare-ipc', '--die-with-parent'],
    ...patient.own,
    ...(call.root ? capabilities : []),
    ...['--chdir', ground.cwd, '--'],
    ...patient.inside,
    ...argv,
  ]
}

/** Those among root's rights that ordinary installers need and that open no way out of the mounts. */
const capabilities = [
  ...[
    '--cap-drop',
    'ALL',
    '--cap-add',
    'CAP_DAC_OVERRIDE',
    '--cap-add',
    'CAP_CHOWN',
    '--cap-add',
    'CAP_FOWNER',
  ],
  ...[
    '--cap-add',
    'CAP_FSETID',
    '--cap-add',
    'CAP_SETUID',
    '--cap-add',
    'CAP_SETGID',
    '--cap-add',
    'CAP_KILL',
  ],
]

/**
 * The polite signals go to the whole group. They would end bubblewrap at once, and with it the session, which could
 * not close its files any more: so bubblewrap ignores them, and the program, which stays in the group, takes them as
 * always. A session of its own it has from whoever starts bubblewrap; where there is no patience it gets another one.
 */
function patience({ env, bwrap, argv }: BwrapCall): { outside: string[]; own: string[]; inside: string[] } {
  // A name with a "=" would be taken for a variable.
  if (env === null || [env, bwrap, argv[0] ?? ''].some((name) => name.includes('=')))
    return { outside: [], own: ['--new-session'], inside: [] }
  return {
    outside: [env, '--ignore-signal=TERM,INT,HUP'],
    own: [],
    inside: [env, '--default-signal=TERM,INT,HUP'],
  }
}

function mounts(call: BwrapCall): string[] {
  const { rules } = call.ground
  // What is a mount can be neither moved nor removed.
  const anchors = anchorsOf(rules).map((path) => ({ path, args: ['--bind', path, path] }))
  const steps = [
    ...rules.map((rule) => ({ path: rule.path, args: mount(rule) })),
    ...anchors,
    ...temporary(call),
  ]
  const ordered = steps.sort((a, b) => depth(a.path) - depth(b.path)).flatMap((step) => step.args)
  // Only now: mounts inside of an empty folder need their places in it first.
  const closed = rules.filter(isEmptied).flatMap((rule) => ['--remount-ro', rule.path])
  return [...ordered, ...closed]
}

function mount(rule: Rule): string[] {
  if (isEmptied(rule)) return ['--tmpfs', rule.path]
  if (rule.access === 'hide') return ['--ro-bind', '/dev/null', rule.path]
  return [rule.access === 'write' ? '--bind' : '--ro-bind', rule.path, rule.path]
}

/** Hidden folders, and brakes that do not exist: bubblewrap protects only what is there, so an empty folder is put there. */
function isEmptied({ access, kind }: Rule): boolean {
  return kind === 'missing' || (access === 'hide' && kind === 'folder')
}

/** The private temporary folder, and what the session needs of the shared one that it covers. */
function temporary({ ground, tmpRoot, argv }: BwrapCall): { path: string; args: string[] }[] {
  const { rules, visible, cwd, tmp } = ground
  if (tmpRoot === null || rules.some((rule) => isWithin(tmpRoot, rule.path))) return []
  const needed = [...rules.map((rule) => rule.path), ...visible, cwd, argv[0] ?? '']
  const tops = new Set(
    needed.filter((path) => isWithin(path, tmpRoot)).map((path) => topBelow(path, tmpRoot)),
  )
  return [
    { path: tmpRoot, args: ['--bind', tmp, tmpRoot] },
    ...[...tops]
      .filter((path) => path !== tmpRoot && existsSync(path) && !rules.some((rule) => rule.path === path))
      .map((path) => ({ path, args: ['--ro-bind', path, path] })),
  ]
}

function topBelow(path: string, root: string): string {
  let top = path
  while (top !== root && dirname(top) !== root) top = dirname(top)
  return top
}
