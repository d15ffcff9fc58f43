import { type Role, roles } from '../api/harness.ts'
import { errors } from '../errors.ts'

/** What `config.md` says of this machine. */
export interface MachineConfig {
  /** null when no line names it. */
  version: string | null
  /** Whether sessions may run a model on this machine; `remote` skips memory detection. */
  backend: 'auto' | 'local' | 'remote'
  /** Context windows in tokens that win over detection: for all roles, and for single ones. */
  contextOverride: { all: number | null } & Partial<Record<Role, number>>
}

const setting = /^(version|backend|context_override(?:\.(\w+))?):[ \t]*(.*)$/

/**
 * Reads `config.md`: lines that start with the name of a setting; everything else is prose. The first line of a name
 * counts; `none` or nothing after the colon is no setting. Throws `bad_config`; null is a file that is not there.
 */
export function loadConfigMd(text: string | null, file = 'config.md'): MachineConfig {
  const config: MachineConfig = { version: null, backend: 'auto', contextOverride: { all: null } }
  const seen = new Set<string>()
  for (const line of (text ?? '').replace(/^\ufeff/, '').split(/\r?\n/)) {
    const [, name, role, rest = ''] = setting.exec(line) ?? []
    const value = rest.trim().replace(/^`(.*)`$/, '$1')
    if (name === undefined || seen.has(name)) continue
    seen.add(name)
    if (value === '' || value === 'none') continue
    if (name === 'version') config.version = value.split(/\s/)[0] ?? null
    else if (name === 'backend') config.backend = backendOf(value, file)
    else if (role === undefined) config.contextOverride.all = tokensOf(name, value, file)
    else config.contextOverride[roleOf(role, file)] = tokensOf(name, value, file)
  }
  return config
}

function backendOf(value: string, file: string): MachineConfig['backend'] {
  if (value === 'auto' || value === 'local' || value === 'remote') return value
  throw errors.badConfig(file, 'backend', JSON.stringify(value), 'auto, local, remote')
}

function roleOf(value: string, file: string): Role {
  const role = roles.find((known) => known === value)
  if (role) return role
  const allowed = roles.map((known) => `context_override.${known}`).join(', ')
  throw errors.badConfig(file, `context_override.${value}`, 'no role', allowed)
}

function tokensOf(name: string, value: string, file: string): number {
  const tokens = /^\d{1,12}$/.test(value) ? Number(value) : 0
  if (tokens > 0) return tokens
  throw errors.badConfig(file, name, JSON.stringify(value), 'a whole number of tokens such as 32000, or none')
}
