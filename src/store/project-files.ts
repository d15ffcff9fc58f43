import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Folders whose content is built, downloaded or somebody else's. */
const skipped = new Set([
  ...[
    'node_modules',
    'bower_components',
    'vendor',
    'third_party',
    'dist',
    'build',
    'out',
    'target',
    'coverage',
  ],
  ...['__pycache__', 'venv', 'env', 'site-packages', 'fixtures', 'testdata'],
])

const mostFiles = 50_000
const mostFolders = 10_000

/**
 * The plain files of a project, relative to it, `/` between names, sorted. Hidden and built folders are not entered, no
 * link is followed, and a tree without end is cut.
 */
export function projectFiles(root: string): string[] {
  const files: string[] = []
  const waiting = ['']
  for (let seen = 0; seen < mostFolders && files.length < mostFiles; seen++) {
    const folder = waiting.shift()
    if (folder === undefined) break
    for (const entry of entriesOf(join(root, folder))) {
      const path = `${folder}${entry.name}`
      if (entry.isFile()) files.push(path)
      else if (entry.isDirectory() && !entry.name.startsWith('.') && !skipped.has(entry.name))
        waiting.push(`${path}/`)
    }
  }
  return files.sort()
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
