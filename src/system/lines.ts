/** A piece of a stream: either some whole lines, or one line whose end was cut off. */
export interface Block {
  /** Ends with a line end, but for a cut line and the last line of a stream. */
  bytes: Buffer
  /** How many bytes the line lacks; 0 for whole lines. */
  cut: number
}

/** Takes a stream apart. */
export interface LineBlocks {
  add(chunk: Uint8Array): void
  /** Hands out what is left as the last line. */
  end(): void
}

/** Cuts a stream into blocks of whole lines; of a line longer than `limit` bytes only that many are kept. Memory stays within two limits. */
export function lineBlocks(limit: number, emit: (block: Block) => void): LineBlocks {
  let pending: Buffer[] = []
  let size = 0
  let dropped = 0
  const flush = () => {
    if (size > 0) emit({ bytes: Buffer.concat(pending), cut: dropped })
    pending = []
    size = 0
    dropped = 0
  }
  /** Adds to the unfinished line, up to the limit. */
  const hold = (part: Buffer) => {
    const kept = part.subarray(0, limit - size)
    dropped += part.length - kept.length
    size += kept.length
    if (kept.length > 0) pending.push(Buffer.from(kept))
  }
  return {
    add(chunk) {
      let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      const first = bytes.indexOf(10) + 1
      if (size > 0 && first > 0) {
        const end = bytes.subarray(0, first)
        // The line's end is not worth a mark, but it has to fit.
        hold(size + first <= limit ? end : end.subarray(0, -1))
        flush()
        bytes = bytes.subarray(first)
      }
      const last = bytes.lastIndexOf(10) + 1
      if (last > 0) emit({ bytes: bytes.subarray(0, last), cut: 0 })
      if (last < bytes.length) hold(bytes.subarray(last))
    },
    end: flush,
  }
}

/** The lines of a block as text, without their ends, each at most `limit` bytes. Bytes that are not UTF-8 become U+FFFD. */
export function linesOf(block: Block, limit: number): string[] {
  const lines: string[] = []
  for (let at = 0; at < block.bytes.length; ) {
    const next = block.bytes.indexOf(10, at)
    const end = next < 0 ? block.bytes.length : next
    const stop = end > at && block.bytes[end - 1] === 13 ? end - 1 : end
    lines.push(block.bytes.toString('utf8', at, Math.min(stop, at + limit)))
    at = end + 1
  }
  return lines
}
