import { join } from 'node:path'
import type { App } from '../../app.ts'
import { errors } from '../../errors.ts'
import { createHost } from '../../plugin/host.ts'
import { loadUserPlugins } from '../../plugin/loader.ts'
import { checkPlugin } from '../plugins-check.ts'
import { newPlugin } from '../plugins-new.ts'
import { trustPlugin } from '../plugins-trust.ts'
import { type Bench, expect, limitMs } from './bench.ts'

/** A user's plugin is written, trusted, loaded in a process of its own, and does what a plugin of its role must. */
export async function plugin(bench: Bench): Promise<string> {
  const app = atHome(bench)
  const { file } = await newPlugin(app, { role: 'source', name: 'self-check', local: false })
  const { problem } = await trustPlugin(app, file)
  expect(problem === null, `it could not be loaded: ${problem?.message}`)
  const { checks } = await checkPlugin(app, file)
  const bad = checks.find(({ ok }) => !ok)
  expect(bad === undefined, `it loads, but: ${bad?.name}: ${bad?.why}`)
  return `a source from a .ts file passed its ${checks.length} checks in a process of its own`
}

/** The same app for a person who lives in the bench, with no project and no plugin but the one that is made there. */
function atHome({ app, folder, home, env }: Bench): App {
  const own = join(home, '.automaton')
  // Whether it loads is the question here, not whether it does so soon.
  const patient = { ...env, AUTOMATON_PLUGIN_SECONDS: String(limitMs / 1000) }
  const places = { home: own, automaton: null, cwd: folder, env: patient, self: app.self, log: () => {} }
  return {
    ...app,
    home: own,
    env,
    cwd: folder,
    progress: () => {},
    project() {
      throw errors.noProject(folder)
    },
    pluginPlaces: () => places,
    host: async () => createHost({ builtins: [], loaded: loadUserPlugins(places), log: () => {} }),
  }
}
