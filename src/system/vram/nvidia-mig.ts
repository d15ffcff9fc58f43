import { type Card, cardBytes, mebibyte } from '../../machine/cards.ts'

/**
 * The cards in the XML of `nvidia-smi -q -x`. Of a card that is divided into instances (MIG) the largest instance counts:
 * a model gets one of them. The card's own size is a secret in a container, and its instance's is not.
 */
export function migCards(xml: string): Card[] {
  return blocks(xml, 'gpu').flatMap((gpu): Card[] => {
    const name = /<product_name>([^<]*)<\/product_name>/.exec(gpu)?.[1]?.trim() || 'NVIDIA card'
    const slices = blocks(gpu, 'mig_device')
    const sizes = (slices.length > 0 ? slices : [gpu]).flatMap((part) => totalOf(part) ?? [])
    if (sizes.length === 0) return []
    const size = Math.max(...sizes)
    return [
      { name: slices.length > 0 ? `${name} (MIG)` : name, vendor: 'nvidia', bytes: size, memory: 'own' },
    ]
  })
}

function totalOf(part: string): number | null {
  const [memory = ''] = blocks(part, 'fb_memory_usage')
  const total = /<total>([^<]*) MiB<\/total>/.exec(memory)?.[1]
  return total === undefined ? null : cardBytes(total, mebibyte)
}

/** What stands in each element of the name; these elements are never inside of one another. */
function blocks(xml: string, name: string): string[] {
  const parts = xml.split(new RegExp(`<${name}(?:\\s[^>]*)?>`)).slice(1)
  return parts.flatMap((part) => {
    const end = part.indexOf(`</${name}>`)
    return end < 0 ? [] : [part.slice(0, end)]
  })
}
