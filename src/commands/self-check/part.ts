import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../app.ts'
import { errors } from '../../errors.ts'
import { writeAtomic } from '../../store/atomic.ts'
import { acquire } from '../../store/lock.ts'
import { launch } from '../../system/launch.ts'
import { isWindows } from '../../system/platform.ts'
import { identifySelf } from '../../system/process.ts'
import { partVerb } from './bench.ts'

/** The processes that the part `tree` starts; each writes who it is into a file of its name. */
export const members = ['child', 'escaped grandchild'] as const

/**
 * What one process of a check does: `hold FILE` (its lock), `echo WORD…`, `write FILE`, `tree FOLDER`, and what the last
 * one starts. Says what is for the check to know; the parts that wait are ended by it.
 */
export async function selfCheckPart(
  app: App,
  words: readonly string[],
  say: (line: string) => Promise<boolean>,
): Promise<void> {
  const [part, ...rest] = words
  const [path = '', name = ''] = rest
  switch (part) {
    case 'echo':
      return void (await say(JSON.stringify(rest)))
    case 'write':
      return writeAtomic(path, 'written')
    case 'hold': {
      using held = await lockOf(path)
      await say('held')
      await stopped(app)
      return held.release()
    }
    case 'tree':
      start(app, ['member', path, 'child'])
      start(app, ['parent', path])
      await started(path, members)
      await say('grown')
      return stopped(app)
    case 'parent':
      // On Windows the grandchild ends with this process: there nothing escapes.
      start(app, ['member', path, 'escaped grandchild'])
      return started(path, ['escaped grandchild'])
    case 'member': {
      const { pid, start, boot } = identifySelf()
      writeAtomic(join(path, name), `${pid}\n${start}\n${boot}`)
      return stopped(app)
    }
    default:
      throw errors.usage(`unknown part (${part})`, 'doctor --self calls this', 'automaton doctor --self')
  }
}

async function lockOf(file: string) {
  const lock = await acquire(file, { waitMs: 0 })
  if (lock.busy) throw errors.writeFailed(file, `${lock.holder} holds its lock`)
  return lock
}

/** Starts another part in a session of its own, and does not wait for it. */
function start({ self, cwd, env }: App, words: readonly string[]): void {
  const argv = [...self, partVerb, ...words]
  const defined = Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined)
  // What automaton launches on Windows ends with it, so that nothing of it could outlive the part `parent`.
  if (isWindows) Bun.spawn(argv, { cwd, env, stdio: ['ignore', 'ignore', 'ignore'], detached: true }).unref()
  else launch({ argv, cwd, env: Object.fromEntries(defined) })
}

async function started(folder: string, names: readonly string[]): Promise<void> {
  while (!names.every((name) => existsSync(join(folder, name)))) await Bun.sleep(20)
}

/** Resolves when this process is told to end; the limit is for one that its check lost sight of. */
async function stopped({ signal }: App): Promise<void> {
  const stop = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => stop.resolve())
  const limit = setTimeout(() => stop.resolve(), longestMs)
  await stop.promise
  clearTimeout(limit)
}

const longestMs = 120_000
