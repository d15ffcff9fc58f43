import { expect } from 'bun:test'
import { needs } from './needs.ts'
import { seed } from './seed.ts'
import { soak } from './soak.ts'

const from = seed()

needs()(
  `300 ticks killed at a random moment leave nothing half done and lose nothing (seed ${from})`,
  async () => {
    // Two loops at a time: the machines that test this have two processors or more.
    const parts = await Promise.all([1, 2].map((part) => soak({ kills: 150, from: `${from} ${part}` })))
    expect(parts.flatMap((part) => part.problems)).toEqual([])
    expect(parts.reduce((sum, part) => sum + part.kills - part.late, 0)).toBeGreaterThan(150)
  },
  240_000,
)
