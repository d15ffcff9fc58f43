import type { ProjectConfig } from '../machine/config.ts'
import type { Deps } from './deps.ts'

/** Sets up the notifiers that people configured. One that cannot be used is said, and changes nothing else. */
export async function setUpNotifiers(
  { host, progress }: Pick<Deps, 'host' | 'progress'>,
  notify: ProjectConfig['notify'],
): Promise<void> {
  for (const { use, options } of notify) {
    try {
      await host.listen(use, options)
    } catch (error) {
      progress(`notifier ${use}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
}
