import type { Role } from '../api/harness.ts'

/** Every role needs this context window, in tokens; below it a tick is refused. 16k means 16,000 and not 16,384. */
export const contextFloor = 16_000

/** Of a card's memory this much is there for a model, in per cent; the one headroom, for whatever else is in it. */
export const usablePercent = 85

/** Of what is usable this much is for context, in per cent; the weights and the working memory take the rest. */
export const contextPercent = 25

/**
 * Bytes that one token of context takes: 32 layers, 8 key-value heads of 128 numbers, two bytes each, for keys and
 * values. Models around 8 billion parameters are like that; no model is looked into to find out more (D8).
 */
export const bytesPerToken = 131_072

/** The part of a window that its prompt may take; the rest is for what the session reads, does and says. */
export const promptShare = 0.5

/** Where the context window of a role comes from: the first of these that knows. */
export type ContextSource = 'override' | 'remote' | 'server' | 'probe' | 'unknown'

/** The context window of one role, in tokens. */
export interface RoleContext {
  role: Role
  /** As `loop.json` declares it. */
  tier: number
  /** As it is in force. */
  effective: number
  /** What there is room for, where that is known. It can be more than the tier. */
  available: number | null
  source: ContextSource
  /** The probe or server that said so, or who decided; null when nobody knows. */
  via: string | null
}

/** What is known about the room for context. */
export interface ContextKnowledge {
  role: Role
  tier: number
  /** Tokens, from `config.md`. */
  override: number | null
  backend: 'auto' | 'local' | 'remote'
  /** The harness only drives a remote service. */
  remoteHarness: boolean
  /** What a local model server says that is loaded; null when none was asked, or none answered. */
  served: { tokens: number; via: string } | null
  /** What a probe found; null when nothing is known. */
  detected: { bytes: number; via: string } | null
}

/**
 * The context window of a role: its tier, or less where a person's override, a local server, or else a positive
 * detection on a machine whose harness may run a local model, says that there is less.
 */
export function roleContext(of: ContextKnowledge): RoleContext {
  const { role, tier, served, detected } = of
  const known = (available: number | null, source: ContextSource, via: string | null): RoleContext => {
    return { role, tier, effective: Math.min(tier, available ?? tier), available, source, via }
  }
  if (of.override !== null) return known(of.override, 'override', 'config.md')
  if (of.backend === 'remote') return known(null, 'remote', 'config.md')
  if (of.remoteHarness) return known(null, 'remote', 'harness')
  if (served !== null && served.tokens > 0) return known(served.tokens, 'server', served.via)
  // A failed probe is unknown, never zero.
  if (detected !== null && detected.bytes > 0) {
    return known(availableTokens(detected.bytes), 'probe', detected.via)
  }
  return known(null, 'unknown', null)
}

/** Whole tokens of context that fit in a card's memory, for any model. The shares are multiplied as whole numbers, exactly. */
export function availableTokens(bytes: number): number {
  return Math.floor((bytes * usablePercent * contextPercent) / (100 * 100 * bytesPerToken))
}

/**
 * The context that a server has loaded for a role, in tokens: of the model that the role names, compared as an opaque id
 * with or without a provider before it; else the smallest that is loaded, for any of them could serve.
 */
export function servedTokens(
  models: readonly { model: string; tokens: number }[],
  wanted: string | null,
): number | null {
  const named = models.filter(({ model }) => wanted === model || wanted?.endsWith(`/${model}`))
  const sizes = (named.length > 0 ? named : models).map(({ tokens }) => tokens)
  return sizes.length === 0 ? null : Math.min(...sizes)
}
