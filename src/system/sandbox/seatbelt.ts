import { anchorsOf, type Ground, type Rule } from './ground.ts'

/**
 * The profile for macOS' `sandbox-exec`: everything allowed but to change files, then one clause for each rule, folders
 * before what they hold, because there the last clause that fits decides. Paths must be free of links.
 */
export function seatbeltProfile({ rules, tmp }: Ground): string {
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* (subpath ${quote(tmp)}))`,
    `(allow file-write* ${devices.map((path) => `(literal ${quote(path)})`).join(' ')})`,
    `(allow file-write* (regex #"^/dev/(ttys[0-9]+|fd/[0-9]+)$"))`,
    // What other programs do on request is not bound by this profile.
    '(deny appleevent-send)',
    '(deny lsopen)',
    '(deny signal)',
    '(allow signal (target same-sandbox))',
    ...rules.map(clause),
    ...anchorsOf(rules).map((path) => `(deny file-write-unlink (literal ${quote(path)}))`),
    '',
  ].join('\n')
}

const devices = [
  '/dev/null',
  '/dev/zero',
  '/dev/tty',
  '/dev/ptmx',
  '/dev/stdout',
  '/dev/stderr',
  '/dev/dtracehelper',
]

function clause({ path, access, kind }: Rule): string {
  const place = `(${kind === 'file' ? 'literal' : 'subpath'} ${quote(path)})`
  if (access === 'hide') return `(deny file-read* file-write* ${place})`
  // Inside of a hidden folder reading has to be allowed again.
  return access === 'write' ? `(allow file-read* file-write* ${place})` : `(deny file-write* ${place})`
}

/** A string of the profile's language, which is a Scheme. */
function quote(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
