import types from '../../templates/plugin/automaton.d.ts.txt' with { type: 'text' }
import harnessTest from '../../templates/plugin/harness.test.ts' with { type: 'text' }
import harness from '../../templates/plugin/harness.ts' with { type: 'text' }
import hooksTest from '../../templates/plugin/hooks.test.ts' with { type: 'text' }
import hooks from '../../templates/plugin/hooks.ts' with { type: 'text' }
import schedulerTest from '../../templates/plugin/scheduler.test.ts' with { type: 'text' }
import scheduler from '../../templates/plugin/scheduler.ts' with { type: 'text' }
import sourceTest from '../../templates/plugin/source.test.ts' with { type: 'text' }
import source from '../../templates/plugin/source.ts' with { type: 'text' }
import verifierTest from '../../templates/plugin/verifier.test.ts' with { type: 'text' }
import verifier from '../../templates/plugin/verifier.ts' with { type: 'text' }

/** What `plugins new` can write. */
export const skeletonRoles = ['source', 'verifier', 'harness', 'scheduler', 'hooks'] as const

/** One of {@link skeletonRoles}. */
export type SkeletonRole = (typeof skeletonRoles)[number]

/** The module `automaton` as an editor reads it. */
export const declarations: string = types

/** Each skeleton is a plugin of the repository, type-checked and tested as it stands. As text its type is not known. */
const texts = {
  source: [source, sourceTest],
  verifier: [verifier, verifierTest],
  harness: [harness, harnessTest],
  scheduler: [scheduler, schedulerTest],
  hooks: [hooks, hooksTest],
} satisfies Record<SkeletonRole, [unknown, unknown]>

/** A working plugin of that name and its test. */
export function skeleton(role: SkeletonRole, name: string): { plugin: string; test: string } {
  const rename = (text: unknown) =>
    String(text).replaceAll(`my-${role}`, name).replaceAll(`'./${role}.ts'`, `'./${name}.ts'`)
  const [plugin, test] = texts[role]
  return { plugin: rename(plugin), test: rename(test) }
}
