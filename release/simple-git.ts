import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { BunPlugin } from 'bun'

/**
 * Replaces simple-git's own loader by one addon, or by an error where there is none. The loader would look at
 * `NAPI_RS_NATIVE_LIBRARY_PATH` and at the folder of the build machine, and load code from there.
 */
export function simpleGit(addon: string | null): BunPlugin {
  const names = readFileSync(Bun.resolveSync('@napi-rs/simple-git', import.meta.dir), 'utf8').matchAll(
    /^module\.exports\.(\w+) =/gm,
  )
  const exported = [...names].map(([, name]) => `exports.${name} = addon.${name}`).join('\n')
  const load = addon
    ? `const addon = require('simple-git-addon')\n${exported}`
    : 'throw new Error("this build has no simple-git addon")'
  return {
    name: 'simple-git',
    setup(build) {
      build.onResolve({ filter: /^@napi-rs\/simple-git$/ }, () => ({
        path: 'simple-git',
        namespace: 'addon',
      }))
      // Chunks are named by a hash of their sources, in which no path of the build machine may be.
      if (addon)
        build.onResolve({ filter: /^simple-git-addon$/ }, () => ({
          path: basename(addon),
          namespace: 'addon-file',
        }))
      if (addon)
        build.onLoad({ filter: /.*/, namespace: 'addon-file' }, () => ({
          contents: readFileSync(addon),
          loader: 'napi',
        }))
      build.onLoad({ filter: /.*/, namespace: 'addon' }, () => ({ contents: load, loader: 'js' }))
    },
  }
}

/** The addon that npm installed for the system that the build runs on, or null. */
export function installedAddon(): string | null {
  for (const abi of ['', '-gnu', '-musl', '-msvc']) {
    try {
      return Bun.resolveSync(`@napi-rs/simple-git-${process.platform}-${process.arch}${abi}`, import.meta.dir)
    } catch {
      // not this one
    }
  }
  return null
}
