import { projectHash, type Unit } from 'automaton'
import type { Settings } from './differences.ts'
import { plainPath } from './names.ts'
import { stepMinutes } from './period.ts'

/** A loop's two units for systemd. */
export interface SystemdUnits {
  /** The name of both files without their ends. Every project has names of its own. */
  name: string
  service: string
  timer: string
}

/** The units that call a loop's tick, as the files should be (systemd.service(5), systemd.timer(5)). */
export function systemdUnits({ loop, project, script, intervalSeconds }: Unit): SystemdUnits {
  const what = `Automaton loop ${loop} of ${escapeSpecifiers(plainPath(project))}`
  const service = [
    `# Written by automaton; automaton uninstall-schedule ${loop} takes it away.`,
    '[Unit]',
    `Description=${what}, one tick`,
    '[Service]',
    'Type=oneshot',
    // The program's own place in the line knows fewer escapes than an argument's.
    `ExecStart=/bin/sh ${quoteArgument(plainPath(script))}`,
    // What a dead tick left does not outlive it, and a session that runs out of memory does not end its tick.
    'KillMode=control-group',
    'OOMPolicy=continue',
    'TimeoutStartSec=infinity',
    // Refused and halted are outcomes, and no failures of the unit.
    'SuccessExitStatus=3 4',
  ]
  const timer = [
    `# Written by automaton; automaton uninstall-schedule ${loop} takes it away.`,
    '[Unit]',
    `Description=${what}, its timer`,
    '[Timer]',
    `OnCalendar=${calendar(stepMinutes(intervalSeconds))}`,
    'Persistent=true',
    'AccuracySec=1s',
    '[Install]',
    'WantedBy=timers.target',
  ]
  const name = `automaton-${projectHash(project)}-${loop}`
  return { name, service: `${service.join('\n')}\n`, timer: `${timer.join('\n')}\n` }
}

/** When to tick, for steps of at most an hour, in UTC: then no hour is missing or comes twice (systemd.time(7)). */
export function calendar(step: number): string {
  if (step === 1) return '*-*-* *:*:00 UTC'
  return step === 60 ? '*-*-* *:00:00 UTC' : `*-*-* *:00/${step}:00 UTC`
}

/** What a unit file says: values by `Section.Key`, a list where the key stands more than once. Comments are passed over. */
export function readUnitFile(text: string): Settings {
  const settings = new Map<string, string | string[]>()
  let section = ''
  for (const raw of text.replaceAll(/\\\n/g, ' ').split('\n')) {
    const line = raw.trim()
    const [, heading] = /^\[(.*)\]$/.exec(line) ?? []
    if (heading !== undefined) section = heading
    const [, key, value] = /^([^#;[=][^=]*?)\s*=\s*(.*)$/.exec(line) ?? []
    if (key === undefined || value === undefined) continue
    const name = `${section}.${key}`
    const before = settings.get(name)
    settings.set(name, before === undefined ? value : [before, value].flat())
  }
  return Object.fromEntries(settings)
}

/** An argument of a command line in a unit file (systemd.syntax(7), "Quoting"): also `$` and `%` mean themselves. */
function quoteArgument(text: string): string {
  const escaped = text.replaceAll(/[\\"]/g, '\\$&').replaceAll('$', '$$$$')
  return `"${escapeSpecifiers(escaped)}"`
}

function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%')
}
