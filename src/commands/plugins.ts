import type { App } from '../app.ts'
import type { ListedPlugin } from '../plugin/host.ts'

/** What is loaded and from where. */
export interface PluginsReport {
  plugins: ListedPlugin[]
}

/** Lists the plugins in the order of their roles and names. */
export async function plugins(app: App): Promise<PluginsReport> {
  const list = (await app.host()).list()
  const key = ({ role, name }: ListedPlugin) => `${role ?? '~'} ${name}`
  return { plugins: [...list].sort((a, b) => (key(a) < key(b) ? -1 : 1)) }
}
