import { type Card, cardBytes, mebibyte } from '../../machine/cards.ts'
import { lookAt, notInstalled } from './look.ts'
import type { Probe } from './tools.ts'

const names = ['hw.memsize', 'iogpu.wired_limit_mb', 'machdep.cpu.brand_string']

/** The graphics of Apple's own chips, which shares the machine's memory. */
export const apple: Probe = {
  name: 'sysctl',
  async look(tools) {
    const run = tools.program('/usr/sbin/sysctl')
    if (!run) return notInstalled
    // It ends with 1 when it does not know one of the names, and prints the others all the same.
    const said = await run(names)
    return lookAt(appleCards(said.text), said)
  },
}

/**
 * The chip in the answer of `sysctl` (`name: value` a line). How much of the memory graphics may have depends on chip
 * and system, and only a call of Apple's graphics library tells: a limit that was set holds; else two thirds are taken
 * up to 36 GiB and three quarters above, which no chip that was measured falls short of.
 */
export function appleCards(text: string): Card[] {
  const values = new Map(
    text.split(/\r?\n/).flatMap((line): [string, string][] => {
      const [, name = '', value = ''] = /^([\w.]+):\s*(.*)$/.exec(line) ?? []
      return [[name, value.trim()]]
    }),
  )
  const chip = values.get('machdep.cpu.brand_string') ?? ''
  const memory = cardBytes(values.get('hw.memsize'), 1)
  // Macs with Intel's processors have other graphics, of whose memory nothing is known here.
  if (!/apple/i.test(chip) || memory === null) return []
  const limit = cardBytes(values.get('iogpu.wired_limit_mb'), mebibyte)
  const usual = Math.floor(memory <= 36 * 2 ** 30 ? (memory * 2) / 3 : (memory * 3) / 4)
  const bytes = limit === null ? usual : Math.min(limit, memory)
  return [{ name: chip, vendor: 'apple', bytes, memory: 'shared' }]
}
