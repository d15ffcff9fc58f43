/** A system that automaton is released for. */
export interface Target {
  /** As in the name of its archive. */
  name: TargetName
  os: 'linux' | 'darwin' | 'windows'
  cpu: 'x64' | 'arm64'
  /** The C library that its runtime needs; absent where the system has but one. */
  libc?: 'glibc' | 'musl'
  /** What Bun calls it. */
  compile: Bun.Build.CompileTarget
  /** The npm package with its Bun. */
  runtime: string
  /** The npm package with its addon of simple-git. */
  addon: string
}

/** Names of targets, in the order of a release. */
export const targetNames = [
  'linux-x64',
  'linux-x64-baseline',
  'linux-arm64',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
  'windows-x64',
  'windows-arm64',
] as const

/** One of {@link targetNames}. */
export type TargetName = (typeof targetNames)[number]

/**
 * What each target is made of.
 *
 * Since Bun 1.4 there is one Bun for all x64 processors: its package for `linux-x64-baseline` holds the same bytes as the one
 * for `linux-x64`. The lock file has the second alone, so both targets take it.
 */
export const targets: Record<TargetName, Target> = {
  'linux-x64': linux('x64', 'glibc'),
  'linux-x64-baseline': {
    ...linux('x64', 'glibc'),
    name: 'linux-x64-baseline',
    compile: 'bun-linux-x64-baseline',
  },
  'linux-arm64': linux('arm64', 'glibc'),
  'linux-x64-musl': linux('x64', 'musl'),
  'linux-arm64-musl': linux('arm64', 'musl'),
  'darwin-x64': target('darwin', 'x64'),
  'darwin-arm64': target('darwin', 'arm64'),
  'windows-x64': target('windows', 'x64'),
  'windows-arm64': target('windows', 'arm64'),
}

function linux(cpu: Target['cpu'], libc: 'glibc' | 'musl'): Target {
  const end = libc === 'musl' ? '-musl' : ''
  return {
    name: `linux-${cpu}${end}`,
    os: 'linux',
    cpu,
    libc,
    compile: libc === 'musl' ? `bun-linux-${cpu}-musl` : `bun-linux-${cpu}`,
    runtime: `@oven/bun-linux-${bunCpu(cpu)}${end}`,
    addon: `@napi-rs/simple-git-linux-${cpu}-${libc === 'musl' ? 'musl' : 'gnu'}`,
  }
}

function target(os: 'darwin' | 'windows', cpu: Target['cpu']): Target {
  return {
    name: `${os}-${cpu}`,
    os,
    cpu,
    compile: `bun-${os}-${cpu}`,
    runtime: `@oven/bun-${os}-${bunCpu(cpu)}`,
    addon: `@napi-rs/simple-git-${os === 'windows' ? `win32-${cpu}-msvc` : `darwin-${cpu}`}`,
  }
}

function bunCpu(cpu: Target['cpu']): string {
  return cpu === 'arm64' ? 'aarch64' : cpu
}
