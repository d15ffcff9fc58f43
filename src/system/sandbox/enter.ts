import { writeSync } from 'node:fs'
import * as v from 'valibot'
import type { Ground } from './ground.ts'
import { becomeProgram, dieWithParent, dropRootRights, restrictSelf } from './landlock.ts'

/** The hidden verb under which automaton is started again to bind itself and become a session. */
export const sandboxVerb = 'sandbox-exec'

/** What the verb is told, as JSON, in its first argument. */
export interface Entry {
  /** The process that starts it; when that one ends, the session does. */
  parent: number
  ground: Ground
}

const schema = v.strictObject({
  parent: v.number(),
  ground: v.strictObject({
    cwd: v.string(),
    tmp: v.string(),
    visible: v.array(v.string()),
    rules: v.array(
      v.strictObject({
        path: v.string(),
        access: v.picklist(['write', 'read', 'hide']),
        kind: v.picklist(['folder', 'file', 'missing']),
      }),
    ),
  }),
})

/**
 * The verb `sandbox-exec JSON PROGRAM [ARGUMENT…]`: puts this process into the Landlock sandbox and becomes the
 * program. Exits with 126 when any of that fails, so that no session ever runs outside; 125 when nobody waits for it.
 * Harmless for a session to call: it can only take rights away.
 */
export function sandboxExec(args: readonly string[]): never {
  try {
    const [text = '', ...argv] = args
    const { parent, ground } = v.parse(schema, JSON.parse(text)) satisfies Entry
    if (!dieWithParent(parent)) process.exit(125)
    process.chdir(ground.cwd)
    if (process.getuid?.() === 0) dropRootRights()
    restrictSelf(ground)
    throw new Error(becomeProgram(argv))
  } catch (error) {
    writeSync(
      2,
      `automaton: no sandbox (Landlock): ${error instanceof Error ? error.message : String(error)}\n`,
    )
    process.exit(126)
  }
}
