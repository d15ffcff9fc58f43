import type { RoleContext } from '../machine/budget.ts'
import type { Detection } from '../machine/cards.ts'

/** `10.0 GiB, NVIDIA GeForce RTX 3080 (nvidia-smi)`; or that nothing is known. */
export function memoryWords(memory: Pick<Detection, 'bytes' | 'source' | 'device' | 'memory'>): string {
  const { bytes, source, device } = memory
  if (bytes === null) return 'unknown: no probe found a card'
  const shared = memory.memory === 'shared' ? ' shared with the system' : ''
  return `${(bytes / 2 ** 30).toFixed(1)} GiB${shared}, ${device ?? 'a card'} (${source ?? 'unknown'})`
}

/** `17408 of 32000 tokens (nvidia-smi)`. */
export function roleWords({ effective, tier, source, via }: RoleContext): string {
  const size = effective === tier ? `${tier} tokens` : `${effective} of ${tier} tokens`
  return `${size} (${sourceWords(source, via)})`
}

function sourceWords(source: RoleContext['source'], via: string | null): string {
  switch (source) {
    case 'override':
      return 'context_override in config.md'
    case 'remote':
      return via === 'harness' ? 'a remote service' : 'backend: remote in config.md'
    case 'server':
    case 'probe':
      return via ?? source
    case 'unknown':
      return 'as declared'
  }
}
