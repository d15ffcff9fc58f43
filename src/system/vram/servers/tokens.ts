import * as v from 'valibot'

/** A number of tokens in a server's answer; null for what is none, or is left out. */
export const tokens = v.fallback(
  v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1e9))),
  null,
)
