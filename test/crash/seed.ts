import { join } from 'node:path'

const root = join(import.meta.dir, '..', '..')

/** What this run's chance is made from: `TEST_SEED`, else the commit, so that each commit tries something else. */
export function seed(): string {
  if (process.env.TEST_SEED) return process.env.TEST_SEED
  const head = Bun.spawnSync(['git', 'rev-parse', 'HEAD'], { cwd: root, stderr: 'ignore' })
  return head.stdout.toString().trim() || 'no commit'
}

/** Numbers from 0 to 1 that are the same for the same seed. */
export function chance(from: string): () => number {
  let state = Number(Bun.hash.crc32(from))
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The items in an order of chance, in turns from each group, so that the start of the list has some of every kind. */
export function mixed<T>(items: readonly T[], groupOf: (item: T) => string, random: () => number): T[] {
  const groups = [...Map.groupBy(items, groupOf).values()].map((group) => shuffled(group, random))
  const longest = Math.max(0, ...groups.map((group) => group.length))
  const rounds = Array.from({ length: longest }, (_, n) =>
    shuffled(
      groups.flatMap((group) => group.slice(n, n + 1)),
      random,
    ),
  )
  return rounds.flat()
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
