// Bun's own hash and the global `crypto`: `node:crypto` takes longer to load than a short command runs.

/** The SHA-256 of something, in hex. */
export function sha256(data: string | Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(data).digest('hex')
}

/** Random bytes from the system. */
export function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count))
}

/** The same in hex. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toHex()
}
