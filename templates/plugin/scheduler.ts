import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { definePlugin, projectHash, type Unit } from 'automaton'
import * as v from 'valibot'

/** Keeps one JSON file for each loop, for a dispatcher of your own to read. */
export default definePlugin({
  name: 'my-scheduler',
  api: 1,
  role: 'scheduler',
  options: v.strictObject({
    folder: v.optional(v.string(), join(homedir(), '.my-scheduler')),
  }),
  setup({ options: { folder } }) {
    const fileOf = ({ loop, project }: Unit) => join(folder, `${loop}-${projectHash(project)}.json`)
    const write = (unit: Unit, enabled: boolean) => {
      mkdirSync(folder, { recursive: true })
      writeFileSync(fileOf(unit), `${JSON.stringify({ ...unit, enabled }, null, 2)}\n`)
    }
    // Each may be called twice, and the second time changes nothing. The second argument, `ctx`, runs programs and writes files.
    return {
      scheduler: {
        install: async (unit) => write(unit, true),
        remove: async (unit) => rmSync(fileOf(unit), { force: true }),
        enable: async (unit) => write(unit, true),
        disable: async (unit) => write(unit, false),
        async inspect(unit) {
          const found = read(fileOf(unit))
          if (!found) return { installed: false, enabled: false, drift: [] }
          const keys = ['project', 'script', 'intervalSeconds'] as const
          const drift = keys.filter((key) => found[key] !== unit[key]).map((key) => `${key} is ${found[key]}`)
          return { installed: true, enabled: found.enabled === true, drift }
        },
      },
    }
  },
})

function read(file: string): Record<string, unknown> | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
