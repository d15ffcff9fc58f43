import { describe, expect, test } from 'bun:test'
import { bwrapArgs } from '../../../src/system/sandbox/bwrap.ts'
import type { Ground } from '../../../src/system/sandbox/ground.ts'
import { seatbeltProfile } from '../../../src/system/sandbox/seatbelt.ts'

const ground: Ground = {
  cwd: '/p/w',
  tmp: '/var/private',
  visible: ['/home/u'],
  rules: [
    { path: '/p', access: 'read', kind: 'folder' },
    { path: '/p/w', access: 'write', kind: 'folder' },
    { path: '/home/u/.ssh', access: 'hide', kind: 'folder' },
    { path: '/home/u/.netrc', access: 'hide', kind: 'file' },
    { path: '/p/w/.git', access: 'read', kind: 'file' },
    { path: '/p/w/later', access: 'read', kind: 'missing' },
    { path: '/home/u/.ssh/agent', access: 'write', kind: 'folder' },
  ],
}
const call = {
  bwrap: '/usr/bin/bwrap',
  env: null,
  ground,
  tmpRoot: '/tmp',
  argv: ['/bin/agent', '-x'],
  root: false,
}

/** The place of some arguments that follow each other. */
function placeOf(args: string[], ...wanted: string[]): number {
  return args.findIndex((_, i) => wanted.every((word, k) => args[i + k] === word))
}

describe('the call of bubblewrap', () => {
  const args = bwrapArgs(call)

  test('begins with the whole disk read-only, and ends with the program in its folder', () => {
    expect(args.slice(0, 4)).toEqual(['/usr/bin/bwrap', '--ro-bind', '/', '/'])
    expect(args.slice(-5)).toEqual(['--chdir', '/p/w', '--', '/bin/agent', '-x'])
  })

  test('mounts folders before what they hold, and closes the emptied ones last', () => {
    const order = [
      placeOf(args, '--ro-bind', '/p', '/p'),
      placeOf(args, '--bind', '/p/w', '/p/w'),
      placeOf(args, '--ro-bind', '/p/w/.git', '/p/w/.git'),
      placeOf(args, '--remount-ro', '/p/w/later'),
    ]
    expect(order.every((place) => place > 0)).toBe(true)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(placeOf(args, '--bind', '/var/private', '/tmp')).toBeGreaterThan(0)
    expect(placeOf(args, '--tmpfs', '/home/u/.ssh')).toBeGreaterThan(0)
    expect(placeOf(args, '--bind', '/home/u/.ssh/agent')).toBeGreaterThan(
      placeOf(args, '--tmpfs', '/home/u/.ssh'),
    )
    expect(placeOf(args, '--remount-ro', '/home/u/.ssh')).toBeGreaterThan(
      placeOf(args, '--bind', '/home/u/.ssh/agent'),
    )
    expect(placeOf(args, '--ro-bind', '/dev/null', '/home/u/.netrc')).toBeGreaterThan(0)
  })

  test('leaves the network, and nothing else that is shared with other processes', () => {
    for (const flag of ['--unshare-pid', '--unshare-ipc', '--die-with-parent', '--new-session'])
      expect(args).toContain(flag)
    expect(args).not.toContain('--unshare-net')
    expect(args).not.toContain('--cap-drop')
  })

  test("takes root's rights away", () => {
    const asRoot = bwrapArgs({ ...call, root: true })
    const drop = placeOf(asRoot, '--cap-drop', 'ALL')
    expect(drop).toBeGreaterThan(0)
    expect(asRoot.slice(drop)).toContain('CAP_DAC_OVERRIDE')
    expect(asRoot.filter((word) => /SYS|MKNOD|READ_SEARCH|PTRACE|SETPCAP/.test(word))).toEqual([])
  })

  test('lets the program answer polite signals, where there is a tool for that', () => {
    const patient = bwrapArgs({ ...call, env: '/usr/bin/env' })
    expect(patient.slice(0, 3)).toEqual(['/usr/bin/env', '--ignore-signal=TERM,INT,HUP', '/usr/bin/bwrap'])
    expect(patient.slice(-3)).toEqual(['--default-signal=TERM,INT,HUP', '/bin/agent', '-x'])
    expect(patient).not.toContain('--new-session')
    expect(bwrapArgs({ ...call, env: '/usr/bin/env', argv: ['/a=b'] })[0]).toBe('/usr/bin/bwrap')
  })

  test('leaves the temporary folder alone when the session works right there', () => {
    const rules: Ground['rules'] = [{ path: '/tmp', access: 'write', kind: 'folder' }]
    expect(placeOf(bwrapArgs({ ...call, ground: { ...ground, rules } }), '--bind', '/var/private')).toBe(-1)
  })
})

describe('the Seatbelt profile', () => {
  const lines = seatbeltProfile(ground).split('\n')

  test('forbids every change first, and then has one clause for each rule in their order', () => {
    expect(lines.slice(0, 4)).toEqual([
      '(version 1)',
      '(allow default)',
      '(deny file-write*)',
      '(allow file-write* (subpath "/var/private"))',
    ])
    expect(lines.slice(-8, -1)).toEqual([
      '(deny file-write* (subpath "/p"))',
      '(allow file-read* file-write* (subpath "/p/w"))',
      '(deny file-read* file-write* (subpath "/home/u/.ssh"))',
      '(deny file-read* file-write* (literal "/home/u/.netrc"))',
      '(deny file-write* (literal "/p/w/.git"))',
      '(deny file-write* (subpath "/p/w/later"))',
      '(allow file-read* file-write* (subpath "/home/u/.ssh/agent"))',
    ])
  })

  test('holds no path that could end its string', () => {
    const rules: Ground['rules'] = [{ path: '/p/a"b\\c)', access: 'write', kind: 'folder' }]
    expect(seatbeltProfile({ ...ground, rules })).toContain('(subpath "/p/a\\"b\\\\c)")')
  })
})
