import { expect, test } from 'bun:test'
import { agent, agentLog, readPlist, writePlist } from '../../../plugins/schedulers/launchd-plist.ts'
import { needs } from '../../crash/needs.ts'
import { hostilePaths } from './machine.ts'

const unit = { loop: 'nightly', project: '/p', script: '/p/loops/nightly/tick.sh', intervalSeconds: 1200 }

test('an agent says when to tick, by the calendar, and that nothing outlives a tick', () => {
  expect(agent('com.automaton.loop.nightly', unit)).toEqual({
    Label: 'com.automaton.loop.nightly',
    ProgramArguments: ['/p/loops/nightly/tick.sh'],
    StartCalendarInterval: [{ Minute: 0 }, { Minute: 20 }, { Minute: 40 }],
    ProcessType: 'Background',
    AbandonProcessGroup: false,
    StandardOutPath: '/p/loops/nightly/launchd.log',
    StandardErrorPath: '/p/loops/nightly/launchd.log',
  })
  expect(agentLog('/a b/tick.sh')).toBe('/a b/launchd.log')
  expect(() => agent('x', { ...unit, script: '/p/\n' })).toThrow('control character')
  expect(() => agent('x', { ...unit, intervalSeconds: 90 })).toThrow('not whole minutes')
})

const agents = hostilePaths.map((path, i) =>
  agent(`com.automaton.loop.l${i}`, { ...unit, script: `${path}/tick.sh`, intervalSeconds: 60 * (i + 1) }),
)

test('a property list comes back as it was', () => {
  for (const one of agents) expect(readPlist(writePlist(one))).toEqual(one)
})

needs('python3')(
  'a parser of property lists that is not automaton’s reads the same',
  async () => {
    const program =
      'import json, plistlib, sys; print(json.dumps([plistlib.loads(x.encode()) for x in json.load(sys.stdin)]))'
    const { stdout, stderr } = Bun.spawnSync(['python3', '-c', program], {
      stdin: Buffer.from(JSON.stringify(agents.map(writePlist))),
    })
    expect(stderr.toString()).toBe('')
    expect(JSON.parse(stdout.toString())).toEqual(agents)
  },
  30_000,
)

test('every kind of value is read, and what is no property list is refused', () => {
  const list = (inside: string) => `<?xml version="1.0"?><plist version="1.0">${inside}</plist>`
  const text = list(
    '<dict><key>a</key><false/><key>b</key><real>1.5</real><key>c</key><dict/><key>__proto__</key><array><string/></array></dict>',
  )
  expect(Object.entries(readPlist(text))).toEqual([
    ['a', false],
    ['b', 1.5],
    ['c', {}],
    ['__proto__', ['']],
  ])
  for (const bad of [
    'bplist00',
    list('<array/>'),
    '<dict/>',
    list('<dict><string>a</string><true/></dict>'),
  ]) {
    expect(() => readPlist(bad)).toThrow()
  }
})
