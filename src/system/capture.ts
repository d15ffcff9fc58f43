/** Keeps the beginning and the end of a stream of bytes. */
export interface Capture {
  add(chunk: Uint8Array): void
  /** What was kept; where something is missing, a line says how many bytes. In `latin1` each byte is one character. */
  text(encoding?: 'utf8' | 'latin1'): string
}

/** Makes a capture that never holds more than `limit` bytes: half for the beginning, half for the end. */
export function capture(limit: number): Capture {
  const half = Math.floor(limit / 2)
  const head: Buffer[] = []
  let headSize = 0
  let ring: Buffer | null = null
  let total = 0
  return {
    add(chunk) {
      let rest = chunk
      if (headSize < half) {
        // Copied: a part of a larger chunk would keep all of it in memory.
        const part = Buffer.from(rest.subarray(0, half - headSize))
        head.push(part)
        headSize += part.length
        rest = rest.subarray(part.length)
      }
      if (rest.length === 0) return
      ring ??= Buffer.allocUnsafe(half)
      writeRing(ring, total, rest)
      total += rest.length
    },
    text(encoding = 'utf8') {
      const start = Buffer.concat(head)
      if (!ring) return start.toString(encoding)
      const end = readRing(ring, total)
      if (total <= half) return Buffer.concat([start, end]).toString(encoding)
      return `${start.toString(encoding)}\n${cutMark(total - half)}\n${end.toString(encoding)}`
    },
  }
}

/** The line that stands where bytes were left out. */
export function cutMark(bytes: number): string {
  return `[automaton: ${bytes} bytes cut here]`
}

/** `written`: how many bytes went into the ring before. */
function writeRing(ring: Buffer, written: number, bytes: Uint8Array): void {
  const skipped = Math.max(0, bytes.length - ring.length)
  const kept = bytes.subarray(skipped)
  const at = (written + skipped) % ring.length
  const first = kept.subarray(0, ring.length - at)
  ring.set(first, at)
  ring.set(kept.subarray(first.length), 0)
}

function readRing(ring: Buffer, written: number): Buffer {
  if (written <= ring.length) return ring.subarray(0, written)
  const at = written % ring.length
  return Buffer.concat([ring.subarray(at), ring.subarray(0, at)])
}
