import { describe, expect, test } from 'bun:test'
import { sessionEnv, unsafeNames, unsafeVariable } from '../../src/system/environment.ts'

const build = (env: Record<string, string>, allowed: string[] = [], extra: Record<string, string> = {}) =>
  sessionEnv({ env, allowed, extra, platform: 'linux' })

describe('the environment of a session', () => {
  test('holds what the contract lists', () => {
    const env = Object.fromEntries(
      [
        ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_TIME', 'TERM', 'TMPDIR', 'TZ'],
        ...['XDG_CONFIG_HOME', 'HTTPS_PROXY', 'https_proxy', 'no_proxy', 'ALL_PROXY', 'SSL_CERT_FILE'],
        ...['SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'SystemRoot', 'APPDATA', 'LOCALAPPDATA', 'USERPROFILE'],
        ...['ComSpec', 'PATHEXT'],
      ].map((name) => [name, `value of ${name}`]),
    )
    expect(build(env)).toEqual(env)
  })

  test('holds nothing else, secrets and markers of an outer session included', () => {
    const names = [
      'GH_TOKEN',
      'SSH_AUTH_SOCK',
      'AWS_SECRET_ACCESS_KEY',
      'AUTOMATON_IN_TICK',
      'FOO',
      'path',
      'XDG',
    ]
    expect(build(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual({})
  })

  test('names that the harness or the person lists are passed, when they are set', () => {
    expect(build({ GH_TOKEN: 'x', OTHER: 'y' }, ['GH_TOKEN', 'UNSET'])).toEqual({ GH_TOKEN: 'x' })
  })

  test.each([
    ...['GIT_DIR', 'GIT_ASKPASS', 'CLAUDECODE', 'BUN_OPTIONS', 'BUN_BE_BUN', 'NODE_OPTIONS'],
    ...['LD_PRELOAD', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES'],
  ])('%s is never passed, whoever lists or sets it', (name) => {
    expect(build({ [name]: 'x' }, [name], { [name]: 'y' })).toEqual({})
  })

  test('what automaton sets wins over what is inherited', () => {
    expect(
      build({ PATH: '/usr/bin' }, [], { PATH: '/opt/automaton:/usr/bin', AUTOMATON_ROLE: 'verify' }),
    ).toEqual({
      PATH: '/opt/automaton:/usr/bin',
      AUTOMATON_ROLE: 'verify',
    })
  })

  test('on Windows names are compared without case, and none is there twice', () => {
    const env = { Path: 'C:\\a', systemroot: 'C:\\Windows', Temp: 'C:\\t', git_dir: 'x', My_Key: 'k' }
    const result = sessionEnv({ env, allowed: ['MY_KEY'], extra: { PATH: 'C:\\b' }, platform: 'win32' })
    expect(result).toEqual({ systemroot: 'C:\\Windows', Temp: 'C:\\t', My_Key: 'k', PATH: 'C:\\b' })
  })
})

describe('a variable that could have loaded code into automaton', () => {
  test.each(unsafeNames.map((name) => name.replace('*', '_X')))('%s is named', (name) => {
    expect(unsafeVariable({ PATH: '/bin', [name]: '1' })).toBe(name)
    expect(unsafeVariable({ [name]: '' })).toBeNull()
  })

  test('an ordinary environment is fine', () => {
    expect(
      unsafeVariable({ PATH: '/bin', BUN_INSTALL: '/x', LD_LIBRARY_PATH: '/lib', NODE_ENV: 'x' }),
    ).toBeNull()
  })
})
