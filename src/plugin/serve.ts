import { dirname } from 'node:path'
import * as api from '../api/index.ts'

/** A plugin's file: what was trusted, word for word. */
export interface ServedFile {
  /** Absolute, without links. */
  path: string
  text: string
}

/**
 * Makes loose plugin files importable in this process. `automaton`, `valibot` and `zx` are the binary's own, so that no
 * `node_modules` is needed; zx is loaded only by the file that asks for it. A plugin's files come from memory, as they
 * were when their hashes were compared, and no other file is imported at all.
 */
export function servePlugin(files: readonly ServedFile[]): void {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  Bun.plugin({
    name: 'automaton',
    setup(build) {
      build.module('automaton', () => object({ ...api }))
      build.module('valibot', async () => object({ ...(await import('valibot')) }))
      build.module('zx', async () => object({ ...(await import('zx')) }))
      build.onLoad({ filter: foreign() }, ({ path }) => {
        const text = texts.get(path)
        if (text !== undefined) return contentsOf(path, text)
        throw new Error(
          `it imports ${path}, which was not trusted with it: import files by their literal path`,
        )
      })
    },
  })
}

function object(exports: Record<string, unknown>) {
  return { exports, loader: 'object' as const }
}

function contentsOf(path: string, text: string) {
  if (/\.json$/.test(path)) return object({ default: JSON.parse(text) })
  if (/\.(?:txt|md)$/.test(path)) return object({ default: text })
  const loader = /\.(?:js|mjs|cjs)$/.test(path) ? ('js' as const) : ('ts' as const)
  return { contents: text, loader }
}

/** Every path but those of automaton itself: inside the binary, or in the folder that it is run from. */
function foreign(): RegExp {
  const inBinary = /\$bunfs|~BUN/.test(import.meta.dir)
  const own = inBinary ? ['/$bunfs/', 'B:\\~BUN\\', 'B:/~BUN/'] : [`${dirname(dirname(import.meta.dir))}/`]
  const kept = own.map((prefix) => prefix.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  return new RegExp(`^(?!${kept})`)
}
