import { differences } from './differences.ts'
import type { TaskSettings } from './schtasks-xml.ts'

/** How a task that is registered differs from what automaton would register; Windows writes some values its own way. */
export function taskDrift(wanted: Readonly<Record<string, string>>, found: TaskSettings): string[] {
  const paths = Object.keys(wanted).filter((path) => !unimportant.test(path))
  const added = Object.keys(found).filter(
    (path) => decisive.test(path) && wanted[path] === undefined && found[path] !== defaults[path],
  )
  const want = paths.map((path) => [path, canonical(wanted[path])])
  const have = [...paths, ...added].map((path) => [path, canonical(found[path] ?? defaults[path])])
  return differences(Object.fromEntries(want), Object.fromEntries(have))
}

/** Written for people or by Windows, and what `enabled` tells. */
const unimportant = /^RegistrationInfo\/Description$|^Principals\/Principal\/UserId$|^Settings\/Enabled$/

/** One of these more, and the task does something else. */
const decisive = /^(?:Triggers|Actions)\//

/** What counts where nothing is written, by the schema: Windows leaves out what is so. */
const defaults: Readonly<Record<string, string>> = {
  'Triggers/TimeTrigger/Enabled': 'true',
  'Triggers/TimeTrigger/Repetition/StopAtDurationEnd': 'false',
  'Principals/Principal/RunLevel': 'LeastPrivilege',
  'Settings/MultipleInstancesPolicy': 'IgnoreNew',
  'Settings/DisallowStartIfOnBatteries': 'true',
  'Settings/StopIfGoingOnBatteries': 'true',
  'Settings/StartWhenAvailable': 'false',
  'Settings/RunOnlyIfNetworkAvailable': 'false',
  'Settings/RunOnlyIfIdle': 'false',
  'Settings/Hidden': 'false',
  'Settings/ExecutionTimeLimit': 'PT72H',
}

const duration = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/

/** Lengths in seconds. What is not ASCII, a console's code page does not keep: in its place stands a question mark. */
function canonical(value: string | string[] | undefined): unknown {
  if (typeof value !== 'string') return value
  const [found, days = 0, hours = 0, minutes = 0, seconds = 0] = duration.exec(value) ?? []
  if (found !== undefined) {
    return `${((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)} seconds`
  }
  return value.replaceAll(/[^ -~]+|\?+/g, '?')
}
