import { readFileSync } from 'node:fs'
import { type Plugin, pluginRoles } from '../api/plugin.ts'
import type { PluginFile } from './files.ts'

/**
 * What a file that may not be run seems to be called, from its text alone: good enough to say to a person whose loop
 * names it that it has to be trusted first.
 */
export function peek({ file }: PluginFile): {
  name: string | null
  role: NonNullable<Plugin['role']> | null
} {
  const text = readQuietly(file)
  const body = /\bdefinePlugin\s*\(\s*\{([\s\S]{0,2000})/.exec(text)?.[1] ?? ''
  const said = (key: string) => new RegExp(`\\b${key}\\s*:\\s*['"]([a-z0-9-]+)['"]`).exec(body)?.[1]
  return {
    name: said('name') ?? null,
    role: ([...pluginRoles, 'hooks'] as const).find((role) => role === said('role')) ?? null,
  }
}

function readQuietly(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
