/**
 * A name for one thing to do that stays the same while its words do: the SHA-256 of the parts, hex. Letter case, runs
 * of white space and Unicode composition make no difference.
 */
export function fingerprint(...parts: readonly string[]): string {
  const normal = parts.map((part) => part.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim())
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(normal)).digest('hex')
}
