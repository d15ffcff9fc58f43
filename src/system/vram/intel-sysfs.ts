import { type Card, cardBytes } from '../../machine/cards.ts'
import { cardFolders } from './amd-sysfs.ts'
import { found } from './look.ts'
import type { Probe, Tools } from './tools.ts'

/** Intel's cards with memory of their own as the kernel of Linux shows them; a processor's graphics has no such files. */
export const intelSysfs: Probe = {
  name: 'sysfs (xe, i915)',
  async look(tools) {
    return found(cardFolders(tools, '0x8086').flatMap((device) => intelCard(sizesOf(tools, device)) ?? []))
  },
}

/** A card of these parts: the tiles of one card are one memory. Null when a part is no size, or there is none. */
export function intelCard(parts: readonly string[]): Card | null {
  const sizes = parts.map((part) => cardBytes(part, 1))
  const known = sizes.filter((size) => size !== null)
  if (known.length === 0 || known.length < sizes.length) return null
  const bytes = known.reduce((sum, size) => sum + size, 0)
  return { name: 'Intel graphics', vendor: 'intel', bytes, memory: 'own' }
}

/** By the driver xe a file for each tile, by i915 one for the card. */
function sizesOf(tools: Tools, device: string): string[] {
  const tiles = tools
    .list(device)
    .filter((name) => /^tile\d+$/.test(name))
    .flatMap((tile) => tools.read(`${device}/${tile}/physical_vram_size_bytes`) ?? [])
  if (tiles.length > 0) return tiles
  const cards = tools.list(`${device}/drm`).filter((name) => /^card\d+$/.test(name))
  return cards.flatMap((name) => tools.read(`${device}/drm/${name}/lmem_total_bytes`) ?? []).slice(0, 1)
}
