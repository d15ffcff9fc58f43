import { type Card, cardBytes } from '../../machine/cards.ts'
import { found } from './look.ts'
import type { Probe, Tools } from './tools.ts'

const folder = '/sys/class/drm'

/** AMD's cards as the kernel of Linux shows them; needs no program. */
export const amdSysfs: Probe = {
  name: 'sysfs (amdgpu)',
  async look(tools) {
    const memory = tools.memory()
    return found(
      cardFolders(tools, '0x1002').flatMap((device) => amdCard(filesOf(tools, device), memory) ?? []),
    )
  },
}

/** The device folders of one vendor's cards: `card0`, and not `card0-DP-1`, which is a connector. */
export function cardFolders(tools: Tools, vendor: string): string[] {
  return tools
    .list(folder)
    .filter((name) => /^card\d+$/.test(name))
    .map((name) => `${folder}/${name}/device`)
    .filter((device) => tools.read(`${device}/vendor`)?.trim() === vendor)
}

/** The files of a card's folder that tell its memory; null where there is none. */
export interface AmdFiles {
  vram: string | null
  gtt: string | null
  /** A board of its own, or chips of its own, have their makers' names here. */
  isBoard: boolean
  product: string | null
}

/**
 * A card, or null where its size is not known. A processor's graphics has a small part of the machine's memory set
 * aside and may use much more: its driver says at least four times as much. Nine tenths of the machine's memory are the
 * most that a model could have of it.
 */
export function amdCard({ vram, gtt, isBoard, product }: AmdFiles, memory: number | null): Card | null {
  const own = cardBytes(vram, 1)
  if (own === null) return null
  const reach = cardBytes(gtt, 1) ?? 0
  const name = product?.trim() || 'AMD graphics'
  if (isBoard || reach < 4 * own) return { name, vendor: 'amd', bytes: own, memory: 'own' }
  const most = memory === null ? own + reach : Math.floor(memory * 0.9)
  const bytes = Math.min(own + reach, most)
  return { name, vendor: 'amd', bytes, memory: 'shared', setAside: own }
}

function filesOf(tools: Tools, device: string): AmdFiles {
  const read = (name: string) => tools.read(`${device}/${name}`)
  return {
    vram: read('mem_info_vram_total'),
    gtt: read('mem_info_gtt_total'),
    isBoard: read('board_info') !== null || read('mem_info_vram_vendor') !== null,
    product: read('product_name'),
  }
}
