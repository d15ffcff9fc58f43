import { readSmall } from './small-file.ts'

/**
 * One plain setting of a git configuration file, in lower case, or null. For the few settings that say how a repository
 * is stored (`core.bare`, `core.fileMode`, `extensions.objectFormat`), which git writes itself, one a line; includes are
 * not followed, and nothing is run.
 */
export function gitSetting(file: string, section: string, key: string): string | null {
  let current = ''
  let found: string | null = null
  for (const line of (readSmall(file) ?? '').split('\n')) {
    const header = /^\s*\[\s*([\w.-]+)\s*\]\s*(.*)$/.exec(line)
    if (header) current = (header[1] ?? '').toLowerCase()
    else if (/^\s*\[/.test(line)) current = ''
    const pair = /^\s*([\w-]+)\s*(?:=\s*"?([^"#;]*)"?.*)?$/.exec(header ? (header[2] ?? '') : line)
    if (current !== section || pair?.[1]?.toLowerCase() !== key.toLowerCase()) continue
    found = pair[2] === undefined ? 'true' : boolean(pair[2].trim().toLowerCase())
  }
  return found
}

function boolean(text: string): string {
  if (/^(yes|on|1)$/.test(text)) return 'true'
  return /^(no|off|0|)$/.test(text) ? 'false' : text
}
