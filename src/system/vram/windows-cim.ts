import { type Card, cardBytes } from '../../machine/cards.ts'
import { lookAt, notInstalled } from './look.ts'
import type { Probe } from './tools.ts'
import { type Adapters, readAdapters } from './windows-adapters.ts'
import { hasOwnMemory, mostIn32Bits, vendorOf } from './windows-registry.ts'

/** The cards as the management interface of Windows names them, where the registry says nothing. */
export function windowsCim(adapters: Adapters): Probe {
  return {
    name: 'CIM',
    async look(tools) {
      const said = await adapters(tools)
      if (!said) return notInstalled
      return lookAt(said.failure === null ? cimCards(said.text) : [], said)
    },
  }
}

/** The cards in the answer. Its sizes have 32 bits: a full one means 4 GiB or more, so nothing. */
export function cimCards(text: string): Card[] {
  return readAdapters(text).flatMap(({ Name: name, AdapterRAM }): Card[] => {
    const bytes = cardBytes(AdapterRAM, 1)
    if (bytes === null || bytes >= mostIn32Bits || !hasOwnMemory(name)) return []
    return [{ name, vendor: vendorOf(name), bytes, memory: 'own' }]
  })
}
