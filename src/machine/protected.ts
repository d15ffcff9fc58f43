/**
 * Whether a file or folder of this name is protected wherever it lies: git's and GitHub's files, environment files, and
 * what steers automaton, a package runner or an agent. Spellings that a file system takes for the same name count.
 */
export function isProtectedName(name: string): boolean {
  return !isHarmless(name) && name.split('\\').some((part) => isFolded(fold(part)))
}

/** Whether the name means git's own folder on some file system. */
export function isGitFolder(name: string): boolean {
  if (isHarmless(name)) return false
  return name.split('\\').some((part) => {
    const folded = fold(part)
    return folded === '.git' || /^git~\d+$/.test(folded)
  })
}

const names: ReadonlySet<string> = new Set([
  '.automaton',
  '.claude',
  '.codex',
  '.gemini',
  '.npmrc',
  '.opencode',
  'agents.md',
  'bunfig.toml',
  'claude.md',
  'gemini.md',
  'opencode.json',
])

/** Most names by far: plain letters that start like none of the set. Drift checks may see 100,000 paths. */
function isHarmless(name: string): boolean {
  return /^[d-fh-np-z0-9_][\w.-]*$/i.test(name)
}

/** `.git*` takes in `.github`; `git~1` and `gitatt~1` are short names of the same on NTFS. */
function isFolded(name: string): boolean {
  return (
    names.has(name) || name.startsWith('.git') || name.startsWith('.env') || /^git[a-z]{0,3}~\d+$/.test(name)
  )
}

/** Code points that HFS+ leaves out of account in names. */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g

/**
 * Unicode NFC and case folding, as on macOS and Windows; then what Windows drops: a stream's name, and dots and spaces
 * at the end.
 */
function fold(name: string): string {
  const folded = name.replace(ignorable, '').normalize('NFC').toUpperCase().toLowerCase()
  const plain = folded.split(':')[0] ?? ''
  let end = plain.length
  while (end > 0 && '. '.includes(plain[end - 1] ?? 'x')) end--
  return plain.slice(0, end)
}
