import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from './cli.ts'
import { makeProject, must, type ProjectOptions, type TestProject } from './project.ts'
import { type Files, writeFiles } from './repo.ts'

/** A project and HOME's plugin folder. */
export interface PluginProject extends TestProject {
  /** `<home>/plugins`. */
  plugins: string
  /** Writes files into that folder. */
  write(files: Files): void
  trust(name: string): Promise<Call>
}

/** Makes a project whose HOME has these plugins; those named are trusted. */
export async function pluginProject(
  options: ProjectOptions & { plugins?: Files; trusted?: string[] } = {},
): Promise<PluginProject> {
  const project = await makeProject(options)
  const plugins = join(project.home, '.automaton', 'plugins')
  const made: PluginProject = {
    ...project,
    plugins,
    write: (files) => writeFiles(plugins, files),
    trust: (name) => project.call(['plugins', 'trust', name]),
  }
  made.write(options.plugins ?? {})
  for (const name of options.trusted ?? []) await must(made.trust(name))
  return made
}

/** The text of a plugin with one role; `members` is what its object holds. */
export function pluginText(name: string, role: string, members: string, head = ''): string {
  return [
    `import { definePlugin } from 'automaton'`,
    head,
    `export default definePlugin({ name: '${name}', api: 1, role: '${role}', setup: () => ({ ${role}: {`,
    members,
    '} }) })',
    '',
  ].join('\n')
}

/** True when no folder from here up has `node_modules`. */
export function hasNoModules(folder: string): boolean {
  if (existsSync(join(folder, 'node_modules'))) return false
  const above = join(folder, '..')
  return above === folder || hasNoModules(above)
}
