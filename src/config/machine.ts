import { type Role, roles } from '../api/harness.ts'
import { errors } from '../errors.ts'
import { type ModelServer, type ServerKind, serverKinds } from '../machine/server.ts'

/** What `config.md` says of this machine. */
export interface MachineConfig {
  /** null when no line names it. */
  version: string | null
  /** Whether sessions may run a model on this machine; `remote` skips memory detection. */
  backend: 'auto' | 'local' | 'remote'
  /** Context windows in tokens that win over detection: for all roles, and for single ones. */
  contextOverride: { all: number | null } & Partial<Record<Role, number>>
  /** The local model server that is asked for the context that it has loaded; null: none is. */
  server: ModelServer | null
}

const setting = /^(version|backend|local_endpoint|context_override(?:\.(\w+))?):[ \t]*(.*)$/

/**
 * Reads `config.md`: lines that start with the name of a setting; everything else is prose. The first line of a name
 * counts; `none` or nothing after the colon is no setting. Throws `bad_config`; null is a file that is not there.
 */
export function loadConfigMd(text: string | null, file = 'config.md'): MachineConfig {
  const config: MachineConfig = {
    version: null,
    backend: 'auto',
    contextOverride: { all: null },
    server: null,
  }
  const seen = new Set<string>()
  for (const line of (text ?? '').replace(/^\ufeff/, '').split(/\r?\n/)) {
    const [, name, role, rest = ''] = setting.exec(line) ?? []
    const value = rest.trim().replace(/^`(.*)`$/, '$1')
    if (name === undefined || seen.has(name)) continue
    seen.add(name)
    if (value === '' || value === 'none') continue
    if (name === 'version') config.version = value.split(/\s/)[0] ?? null
    else if (name === 'backend') config.backend = backendOf(value, file)
    else if (name === 'local_endpoint') config.server = serverOf(value, file)
    else if (role === undefined) config.contextOverride.all = tokensOf(name, value, file)
    else config.contextOverride[roleOf(role, file)] = tokensOf(name, value, file)
  }
  return config
}

function backendOf(value: string, file: string): MachineConfig['backend'] {
  if (value === 'auto' || value === 'local' || value === 'remote') return value
  throw errors.badConfig(file, 'backend', JSON.stringify(value), 'auto, local, remote')
}

/** `URL`, or `KIND URL`. What people copy is often the address of the interface below it, so that `/v1` is taken off. */
function serverOf(value: string, file: string): ModelServer {
  const [first = '', second, ...more] = value.split(/\s+/)
  const [kind, address] = second === undefined ? [null, first] : [first, second]
  const known = kind === null ? null : serverKinds.find((one) => one === kind)
  const url = known === undefined || more.length > 0 ? null : addressOf(address)
  if (url !== null && known !== undefined) return { kind: known satisfies ServerKind | null, url }
  const allowed = `an address such as http://127.0.0.1:11434, with one of ${serverKinds.join(', ')} before it or without, or none`
  throw errors.badConfig(file, 'local_endpoint', JSON.stringify(value), allowed)
}

function addressOf(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    return null
  return (url.origin + url.pathname).replace(/\/+$/, '').replace(/\/(?:v1|api)$/, '')
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
