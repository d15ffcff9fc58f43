import { expect, test } from 'bun:test'
import { isScript, readShim } from '../../../src/system/windows/shim.ts'

const folder = 'C:\\tools'

const npm = `@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0

IF EXIST "%dp0%\\node.exe" (
  SET "_prog=%dp0%\\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%" --no-warnings "%dp0%\\node_modules\\agent (x)\\cli.js" %*
`

const pnpm = `@SETLOCAL
@IF NOT DEFINED NODE_PATH (
  @SET "NODE_PATH=C:\\store\\node_modules"
)
@IF EXIST "%~dp0\\node.exe" (
  "%~dp0\\node.exe"  "%~dp0\\..\\agent\\cli.js" %*
) ELSE (
  @SET PATHEXT=%PATHEXT:;.JS;=;%
  node  "%~dp0\\..\\agent\\cli.js" %*
)
`

const found: [string, string, { program: string; args: string[] }][] = [
  ["npm's", npm, { program: 'node', args: ['--no-warnings', 'C:\\tools\\node_modules\\agent (x)\\cli.js'] }],
  [
    "npm's with line ends of Windows",
    npm.replaceAll('\n', '\r\n'),
    {
      program: 'node',
      args: ['--no-warnings', 'C:\\tools\\node_modules\\agent (x)\\cli.js'],
    },
  ],
  ["pnpm's and yarn's", pnpm, { program: 'node', args: ['C:\\agent\\cli.js'] }],
  [
    'one for a program',
    '@"%~dp0\\..\\agent\\bin\\agent.exe"   %*\n',
    {
      program: 'C:\\agent\\bin\\agent.exe',
      args: [],
    },
  ],
  [
    'one by an absolute path',
    '@rem made by a manager\n@"D:\\apps\\agent\\agent.exe" run %*',
    {
      program: 'D:\\apps\\agent\\agent.exe',
      args: ['run'],
    },
  ],
  [
    'one without a slash after the folder',
    '@"%~dp0agent.exe" %*',
    {
      program: 'C:\\tools\\agent.exe',
      args: [],
    },
  ],
]

test.each(found)('a shim is read through to its program: %s', (_, text, shim) => {
  expect(readShim(text, folder)).toEqual(shim)
})

const refused: [string, string][] = [
  ['nothing in it', ''],
  ['a script of its own', '@echo off\necho %1\n'],
  ['arguments that are not handed on as they are', '@node "%~dp0\\cli.js" %1 %2\n'],
  ['a variable that only the interpreter knows', '@"%HOME%\\agent.exe" %*\n'],
  ['a variable among the arguments', '@node "%~dp0\\cli.js" --flag=%FLAG% %*\n'],
  ['a variable program that is never set', '@"%_prog%" "%~dp0\\cli.js" %*\n'],
  ['another script', '@"%~dp0\\other.cmd" %*\n'],
  ['a path that starts in no known folder', '@"bin\\agent.exe" %*\n'],
  ['a pipe', '@type x | node "%~dp0\\cli.js" %*\n'],
  ['output that is sent elsewhere', '@node "%~dp0\\cli.js" >log %*\n'],
]

test.each(refused)('a script that may do something else is not taken for a shim: %s', (_, text) => {
  expect(readShim(text, folder)).toBeNull()
})

test('scripts are known by the end of their name', () => {
  const names = ['a.cmd', 'A.BAT', 'C:\\x\\y.CmD', 'a.exe', 'a.cmd.exe', 'cmd']
  expect(names.filter(isScript)).toEqual(['a.cmd', 'A.BAT', 'C:\\x\\y.CmD'])
})
