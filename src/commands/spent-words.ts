/** Money and tokens in words. Where a session did not say what it cost, a sum is only the least that was spent. */
export function spentWords({
  usd,
  tokens,
  reported,
  digits = 2,
}: {
  /** US dollars. */
  usd: number
  tokens: number
  /** Every session said what it cost. */
  reported: boolean
  /** Of a dollar; default 2. */
  digits?: number
}): string {
  const money = `$${usd.toFixed(digits)}`
  if (reported) return `${money}, ${tokens} tokens`
  const known = [usd > 0 ? money : null, tokens > 0 ? `${tokens} tokens` : null]
  const sum = known.filter((part) => part !== null).join(', ')
  return sum === '' ? 'cost not reported' : `at least ${sum}`
}
