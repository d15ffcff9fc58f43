import { dlopen, ptr } from 'bun:ffi'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { landlockGrants } from './grants.ts'
import type { Ground } from './ground.ts'

/**
 * The version of Landlock that this kernel has; 0 without it. From 3 on truncation is covered, without which every
 * file of the user could be emptied.
 */
export function landlockAbi(): number {
  if (process.platform !== 'linux' || (process.arch !== 'x64' && process.arch !== 'arm64')) return 0
  try {
    return Math.max(0, call(createRuleset, 0n, 0n, askVersion))
  } catch {
    return 0
  }
}

/** The least version that {@link restrictSelf} accepts. */
export const leastAbi = 3

/**
 * Binds this process, and all that it becomes and starts, to the ground for ever. Throws when any part of that fails;
 * it may then be half bound, and must not go on.
 */
export function restrictSelf(ground: Ground): void {
  const abi = landlockAbi()
  if (abi < leastAbi) throw new Error(`Landlock has version ${abi}, and ${leastAbi} is needed`)
  const hides = ground.rules.some((rule) => rule.access === 'hide')
  const reading = hides ? rights.readFile | (abi >= 9 ? rights.connectUnix : 0n) : 0n
  const writing = writeRights | (abi >= 5 ? rights.deviceControl : 0n)
  const ruleset = openRuleset(abi, writing | reading)
  try {
    for (const { path, access } of landlockGrants(ground)) {
      if (access === 'read' && !hides) continue
      allow(
        ruleset,
        path,
        access === 'read' ? reading : access === 'write' ? grantedWrites : deviceWrites(abi),
      )
    }
    if (prctl(setNoNewPrivileges, 1n) !== 0) throw new Error('no_new_privs cannot be set')
    if (call(restrictThread, BigInt(ruleset), 0n, 0n) !== 0) throw new Error('landlock_restrict_self failed')
  } finally {
    closeSync(ruleset)
  }
}

/** Has the kernel kill this process when the one that started it ends. False when that has already happened. */
export function dieWithParent(parent: number): boolean {
  if (prctl(setParentDeathSignal, killSignal) !== 0) throw new Error('the parent-death signal cannot be set')
  return process.ppid === parent
}

/** Takes from root, for all that it will start, the rights with which it could step around file permissions. */
export function dropRootRights(): void {
  for (let right = 0n; right < 64n; right++) {
    if (!keptCapabilities.includes(right)) prctl(dropFromBounds, right)
  }
}

/** Becomes the program, with this environment. Returns only when that fails; then the reason. */
export function becomeProgram(argv: readonly string[]): string {
  const words = argv.map((word) => Buffer.from(`${word}\0`))
  const pointers = new BigUint64Array([...words.map((word) => BigInt(ptr(word))), 0n])
  const first = words[0]
  if (!first) return 'there is no program'
  const { execv, signal, sigprocmask } = libc()
  const ignored = ignoredSignals()
  sigprocmask(setMask, ptr(new Uint8Array(128)), null)
  // What the runtime ignores, the program would ignore too: `yes | head` would never end.
  for (const number of ignored) signal(number, null)
  execv(ptr(first), ptr(pointers))
  return `${argv[0]} cannot be started`
}

const rights = {
  writeFile: 1n << 1n,
  readFile: 1n << 2n,
  makeCharacterDevice: 1n << 6n,
  makeBlockDevice: 1n << 11n,
  /** To link or rename into another folder. */
  refer: 1n << 13n,
  truncate: 1n << 14n,
  deviceControl: 1n << 15n,
  connectUnix: 1n << 16n,
}

/** All rights that change something: to write, to remove (4, 5), to make (6 to 12), to move, to truncate. */
const writeRights = rights.writeFile | (((1n << 9n) - 1n) << 4n) | rights.refer | rights.truncate

/** Device files are never granted: root could make one for the disk and write past every rule. */
const grantedWrites = writeRights & ~(rights.makeCharacterDevice | rights.makeBlockDevice)

/** What a rule about a file, which holds nothing, may grant. */
const fileRights =
  rights.writeFile | rights.readFile | rights.truncate | rights.deviceControl | rights.connectUnix

const createRuleset = 444n
const addRule = 445n
const restrictThread = 446n
const askVersion = 1n
const pathBeneath = 1n
/** No connections to abstract sockets, and no signals, to what runs outside (from version 6 on). */
const scopes = 3n

const setParentDeathSignal = 1
const dropFromBounds = 24
const setNoNewPrivileges = 38
const killSignal = 9n
const setMask = 2
/** CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID. */
const keptCapabilities = [0n, 1n, 3n, 4n, 5n, 6n, 7n]
const pathOnly = 0o10000000

function deviceWrites(abi: number): bigint {
  return rights.writeFile | rights.truncate | (abi >= 5 ? rights.deviceControl : 0n)
}

function openRuleset(abi: number, handled: bigint): number {
  const attributes = new BigUint64Array(abi >= 6 ? [handled, 0n, scopes] : [handled])
  const fd = call(createRuleset, BigInt(ptr(attributes)), BigInt(attributes.byteLength), 0n)
  if (fd < 0) throw new Error('landlock_create_ruleset failed')
  return fd
}

function allow(ruleset: number, path: string, access: bigint): void {
  let fd: number
  try {
    fd = openSync(path, pathOnly | constants.O_NOFOLLOW)
  } catch {
    // It is gone, or this user cannot reach it: nothing is granted.
    return
  }
  try {
    const rule = Buffer.alloc(12)
    rule.writeBigUInt64LE(fstatSync(fd).isDirectory() ? access : access & fileRights, 0)
    rule.writeInt32LE(fd, 8)
    if (call(addRule, BigInt(ruleset), pathBeneath, BigInt(ptr(rule))) !== 0)
      throw new Error(`Landlock takes no rule for ${path}`)
  } finally {
    closeSync(fd)
  }
}

function ignoredSignals(): number[] {
  const found = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  const mask = BigInt(`0x${found}`)
  return Array.from({ length: 64 }, (_, i) => i + 1).filter((number) => (mask >> BigInt(number - 1)) & 1n)
}

function call(number: bigint, first: bigint, second: bigint, third: bigint): number {
  return Number(libc().syscall(number, first, second, third, 0n))
}

function prctl(option: number, value: bigint): number {
  return libc().prctl(option, value, 0n, 0n, 0n)
}

type Libc = ReturnType<typeof load>

let loaded: Libc | undefined

function libc(): Libc {
  loaded ??= load()
  return loaded
}

function load() {
  return dlopen(libcPath(), {
    syscall: { args: ['i64', 'i64', 'i64', 'i64', 'i64'], returns: 'i64' },
    prctl: { args: ['i32', 'u64', 'u64', 'u64', 'u64'], returns: 'i32' },
    execv: { args: ['ptr', 'ptr'], returns: 'i32' },
    signal: { args: ['i32', 'ptr'], returns: 'ptr' },
    sigprocmask: { args: ['i32', 'ptr', 'ptr'], returns: 'i32' },
  } as const).symbols
}

/** The C library that this process runs on, by its absolute path: a bare name could be found in a hostile folder. */
function libcPath(): string {
  const maps = readFileSync('/proc/self/maps', 'utf8')
  const path = maps.match(/\s(\/\S*\/(?:libc\.so\.6|libc-[\d.]+\.so|(?:ld|libc)[-.]musl-\w+\.so\.1))$/m)?.[1]
  if (path === undefined) throw new Error('no C library in /proc/self/maps')
  return path
}
