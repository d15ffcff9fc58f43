import type { App } from '../app.ts'
import { AutomatonError } from '../errors.ts'
import type { ListedPlugin } from '../plugin/host.ts'
import { loadUserPlugins } from '../plugin/loader.ts'

/** What is loaded and from where. */
export interface PluginsReport {
  plugins: ListedPlugin[]
}

/** Lists the plugins in the order of their roles and names. Those that are trusted are loaded, to see whether they can be. */
export async function plugins(app: App): Promise<PluginsReport> {
  const list = (await app.host()).list()
  const broken = await brokenPlugins(app)
  const key = ({ role, name }: ListedPlugin) => `${role ?? '~'} ${name}`
  return {
    plugins: list
      .map((one) => ({ ...one, problem: one.problem ?? broken.get(one.origin) ?? null }))
      .sort((a, b) => (key(a) < key(b) ? -1 : 1)),
  }
}

/** What keeps a user's plugins from being loaded, by file. */
export async function brokenPlugins(app: App): Promise<Map<string, { message: string; fix: string }>> {
  const found = new Map<string, { message: string; fix: string }>()
  const all = loadUserPlugins(app.pluginPlaces())
  await Promise.all(
    all.map(async ({ child, origin }) => {
      try {
        await child.load()
      } catch (error) {
        if (!(error instanceof AutomatonError)) throw error
        found.set(origin, { message: error.message, fix: error.fix })
      } finally {
        child.close()
      }
    }),
  )
  return found
}
