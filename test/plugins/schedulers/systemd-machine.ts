import { type Machine, machine, type Program } from './machine.ts'

/** A machine whose user's systemd has this folder for units. `linger` is what loginctl says; absent: it fails. */
export function systemdMachine(o: { linger?: string; folder?: string } = {}): Machine {
  const files: Machine['files'] = new Map()
  const loginctl: Program = () => o.linger ?? { failed: 1, says: 'Failed to connect to bus' }
  return machine(
    { systemctl: systemctlOn(files, o.folder ?? '/home/pat/.config/systemd/user'), loginctl },
    files,
  )
}

/** A user's systemd, as far as `systemctl --user` tells of it. It reads its unit files at `daemon-reload`, and not before. */
function systemctlOn(files: Machine['files'], folder: string): Program {
  const known = new Map<string, string>()
  const enabled = new Set<string>()
  const active = new Set<string>()
  const onDisk = (unit: string) => files.get(`${folder}/${unit}`)
  const failed = (says: string) => ({ failed: 1, says })
  return ([user, noPassword, verb = '', ...args]) => {
    if (user !== '--user' || noPassword !== '--no-ask-password') return failed('not as expected')
    const unit = args.at(-1) ?? ''
    switch (verb) {
      case 'daemon-reload':
        known.clear()
        for (const [path, text] of files) {
          if (path.startsWith(`${folder}/`)) known.set(path.slice(folder.length + 1), String(text))
        }
        return ''
      case 'show': {
        if (args[0] === '--property=UnitPath') return `${folder}.control /run/user/1000/systemd ${folder}\n`
        const state = {
          UnitFileState: enabled.has(unit) ? 'enabled' : onDisk(unit) ? 'disabled' : '',
          ActiveState: active.has(unit) ? 'active' : 'inactive',
          NeedDaemonReload: known.has(unit) && known.get(unit) !== onDisk(unit) ? 'yes' : 'no',
        }
        return Object.entries(state)
          .map((entry) => `${entry.join('=')}\n`)
          .join('')
      }
      case 'enable':
        if (!known.has(unit)) return failed(`Unit file ${unit} does not exist.`)
        enabled.add(unit)
        active.add(unit)
        return ''
      case 'disable':
        if (!known.has(unit)) return failed(`Unit file ${unit} does not exist.`)
        enabled.delete(unit)
        active.delete(unit)
        return ''
      case 'clean':
        return active.has(unit) ? failed('Unit is not inactive or failed.') : ''
      case 'reset-failed':
        return failed(`Unit ${unit} not loaded.`)
      default:
        return failed(`Unknown command verb ${verb}.`)
    }
  }
}
