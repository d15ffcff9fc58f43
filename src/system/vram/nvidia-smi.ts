import { type Card, cardBytes, mebibyte } from '../../machine/cards.ts'
import { lookAt, notInstalled } from './look.ts'
import { migCards } from './nvidia-mig.ts'
import type { Probe } from './tools.ts'

/** The columns that are asked for. The name comes last: it may hold a comma. */
const columns = ['addressing_mode', 'mig.mode.current', 'memory.total', 'name']
/** What every driver knows. */
const oldColumns = ['memory.total', 'name']

/** NVIDIA's cards, by the program that comes with the driver. */
export const nvidiaSmi: Probe = {
  name: 'nvidia-smi',
  async look(tools) {
    const run = tools.program('nvidia-smi')
    if (!run) return notInstalled
    const query = (names: string[]) =>
      run([`--query-gpu=${names.join(',')}`, '--format=csv,noheader,nounits'])
    let said = await query(columns)
    let rows = said.failure === null ? nvidiaRows(said.text, columns) : []
    if (rows.length === 0) {
      // One column that an old driver does not know must not hide the card.
      const again = await query(oldColumns)
      if (again.failure === null) said = again
      rows = again.failure === null ? nvidiaRows(again.text, oldColumns) : []
    }
    const cards = nvidiaCards(rows, tools.memory())
    const isWhole = rows.length > 0 && rows.every(({ sliced }) => !sliced) && cards.length > 0
    if (isWhole || said.failure !== null) return lookAt(cards, said)
    // A sliced card: in a container its size is a secret, and outside no model gets all of it.
    const all = await run(['-q', '-x'])
    const slices = all.failure === null ? migCards(all.text) : []
    return lookAt(slices.length > 0 ? slices : cards, said)
  },
}

/** One row of a query. */
export interface NvidiaRow {
  name: string
  /** Bytes; null where the driver does not say. */
  bytes: number | null
  /** The card says that it shares the machine's memory, by its addressing mode or its name. */
  unified: boolean
  /** Divided into instances (MIG). */
  sliced: boolean
}

/**
 * The rows of a `--query-gpu` answer. Its columns are the named ones, or those of its own heading; commas that are too
 * many belong to the name.
 */
export function nvidiaRows(text: string, asked: readonly string[]): NvidiaRow[] {
  let names = [...asked]
  return text.split(/\r?\n/).flatMap((line) => {
    if (/(?:^|, )memory\.total/.test(line)) {
      names = line.split(',').map((name) => name.replace(/\[.*\]/, '').trim())
      return []
    }
    const cells = cellsOf(line, names)
    const total = cells?.get('memory.total')
    const name = cells?.get('name')
    if (!cells || total === undefined || !name) return []
    const ats = cells.get('addressing_mode') === 'ATS'
    const bytes = cardBytes(total.replace(/ MiB$/, ''), mebibyte)
    return [
      {
        name,
        bytes,
        unified: unifiedName.test(name) || (ats && bytes === null),
        sliced: cells.get('mig.mode.current') === 'Enabled',
      },
    ]
  })
}

/** The cards of the rows. What has unified memory can use the machine's, `memory` bytes. */
export function nvidiaCards(rows: readonly NvidiaRow[], memory: number | null): Card[] {
  return rows.flatMap(({ name, bytes, unified }): Card[] => {
    // Some drivers answer with the machine's memory as if it were the card's.
    const size = unified ? cardBytes(memory, 1) : bytes
    return size === null ? [] : [{ name, vendor: 'nvidia', bytes: size, memory: unified ? 'shared' : 'own' }]
  })
}

/** Chips that have no memory of their own: DGX Spark, Thor, Orin. */
const unifiedName = /\bGB10\b|\bGB20[A-Z]?\b|\bThor\b|\bOrin\b|\(nvgpu\)|\bDGX Spark\b/i

function cellsOf(line: string, names: readonly string[]): Map<string, string> | null {
  const parts = line.split(',')
  const extra = parts.length - names.length
  if (extra < 0) return null
  const cells = new Map<string, string>()
  for (const name of names) {
    const taken = parts.splice(0, name === 'name' ? 1 + extra : 1)
    cells.set(name, taken.join(',').trim())
  }
  return parts.length === 0 ? cells : null
}
