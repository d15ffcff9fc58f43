/** Every role needs this context window, in tokens; below it a tick is refused. */
export const contextFloor = 16_000

/** Characters to a token where no tokenizer is at hand. */
export const charactersPerToken = 4

/**
 * Context tokens that fit in the detected memory, for any model (D8): 85 % of it is usable, a quarter of that is for
 * context, and a token takes 128 KiB. 0.85 × 0.25 / 131072 is written as 17 / 10485760, which is exact.
 */
export function availableTokens(bytes: number): number {
  return Math.floor((bytes * 17) / 10_485_760)
}

/**
 * The context window of a role in tokens: its tier, or less where a person's override, or else a positive detection on
 * a machine whose harness may run a local model, says that there is less.
 */
export function effectiveTier(of: {
  tier: number
  /** Bytes that a probe found; null when nothing is known. */
  detectedBytes: number | null
  /** Tokens, from `config.md`. */
  override: number | null
  backend: 'auto' | 'local' | 'remote'
  /** The harness only drives a remote service. */
  remoteHarness: boolean
}): number {
  if (of.override !== null) return Math.min(of.tier, of.override)
  if (of.backend === 'remote' || of.remoteHarness) return of.tier
  // A failed probe is unknown, never zero.
  if (of.detectedBytes === null || !(of.detectedBytes > 0)) return of.tier
  return Math.min(of.tier, availableTokens(of.detectedBytes))
}

/** About how many tokens the text takes. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / charactersPerToken)
}
