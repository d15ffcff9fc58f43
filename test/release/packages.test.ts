import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../helpers/temp.ts'

/** Fetches a package through an `npm` that brings a file with the given text; returns what was said. */
function fetched(text: string, integrity: string): string {
  using dir = tempDir()
  const npm = `#!/bin/sh
while [ "$1" != --pack-destination ]; do shift; done
[ "$3" = @a/b@1.2.3 ] && printf %s '${text}' > "$2/a-b-1.2.3.tgz"
`
  writeFileSync(join(dir.path, 'npm'), npm, { mode: 0o755 })
  const script = `
    import { fetchPackages } from ${JSON.stringify(join(import.meta.dir, '../../release/packages.ts'))}
    const pinned = { name: '@a/b', version: '1.2.3', integrity: '${integrity}', license: 'MIT' }
    try {
      console.log([...fetchPackages([pinned], ${JSON.stringify(dir.path)}).keys()].join())
    } catch (error) {
      console.log(error.message)
    }`
  const env = { PATH: `${dir.path}:/usr/bin:/bin` }
  return Bun.spawnSync([process.execPath, '-e', script], { env }).stdout.toString().trim()
}

test('a package from npm is taken only when it is, to the last byte, what the lock file pins', () => {
  const integrity = `sha512-${new Bun.CryptoHasher('sha512').update('as pinned').digest('base64')}`
  expect(fetched('as pinned', integrity)).toBe('@a/b')
  const refusal = /^@a\/b@1\.2\.3 is not what package-lock\.json pins: sha512-/
  expect(fetched('another', integrity)).toMatch(refusal)
})
