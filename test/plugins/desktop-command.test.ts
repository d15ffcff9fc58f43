import { expect, test } from 'bun:test'
import { desktopCommand } from '../../plugins/notifiers/desktop-command.ts'
import type { Notice } from '../../plugins/notifiers/notice.ts'

const hostile = `"; do shell script "x" & <b>$(id)\` --icon`
const notice: Notice = {
  event: 'halt',
  loop: 'nightly',
  project: '/p',
  title: 'automaton: loop nightly halted',
  text: hostile,
  commands: ['automaton status nightly'],
  details: {
    loop: 'nightly',
    project: '/p',
    reason: 'drift_detected',
    detail: hostile,
    haltId: 'h',
    fix: '',
  },
}

test('what a notice says is never part of a script, on any system', () => {
  for (const platform of ['darwin', 'linux', 'win32']) {
    const { argv, env = {} } = desktopCommand(platform, notice)
    const script = argv.filter((word) => /display notification|CreateToastNotifier/.test(word)).join('\n')
    expect(script).not.toContain('shell script')
    expect(JSON.stringify([argv, env])).toContain('automaton status nightly')
  }
})

test('notify-send gets the body without marks, and no option from it', () => {
  const { argv } = desktopCommand('linux', notice)
  expect(argv[0]).toBe('notify-send')
  expect(argv.indexOf('--')).toBe(argv.length - 3)
  expect(argv.at(-1)).toContain('&lt;b&gt;')
})

test('osascript takes the words as arguments, PowerShell as variables', () => {
  expect(desktopCommand('darwin', notice).argv.slice(-2)).toEqual([
    notice.title,
    `${hostile}\nautomaton status nightly`,
  ])
  expect(desktopCommand('win32', notice).env).toEqual({
    AUTOMATON_TITLE: notice.title,
    AUTOMATON_TEXT: `${hostile}\nautomaton status nightly`,
  })
})
