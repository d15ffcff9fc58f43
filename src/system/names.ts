// Git's file names are bytes. Inside, they are strings with one character a byte ('latin1'), which loses nothing.

/** The names of a NUL-separated list, one character a byte. */
export function splitNames(list: Buffer): string[] {
  const names = list.toString('latin1').split('\0')
  names.pop()
  return names
}

/** A NUL-separated list of names, as git reads it. */
export function joinNames(names: Iterable<string>): Buffer {
  return Buffer.from([...names].map((name) => `${name}\0`).join(''), 'latin1')
}

/** A file below a folder, as the bytes that the system takes. */
export function pathBytes(folder: string, name: string): Buffer {
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')])
}

/**
 * A name as text. Valid UTF-8 stays as it is; other bytes become `\xNN`. A backslash that would read as such an escape
 * becomes `\x5c`, so that two names never look the same and {@link nameBytes} finds the way back.
 */
export function showName(name: string): string {
  const bytes = Buffer.from(name, 'latin1')
  return decodePieces(bytes, (text) => text.replaceAll(/\\(?=x[0-9a-f]{2})/gi, '\\x5c'))
}

/** The bytes of a name that {@link showName} made. */
export function nameBytes(shown: string): Buffer {
  const pieces = shown.split(/(\\x[0-9a-f]{2})/i)
  return Buffer.concat(
    pieces.map((piece, at) => (at % 2 ? Buffer.from(piece.slice(2), 'hex') : Buffer.from(piece))),
  )
}

function decodePieces(bytes: Buffer, escapeText: (text: string) => string): string {
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    return escapeText(strict.decode(bytes))
  } catch {
    let out = ''
    for (let at = 0; at < bytes.length; ) {
      const length = characterLength(bytes, at, strict)
      if (length > 0) out += bytes.toString('utf8', at, at + length)
      else out += String.fromCharCode(0) + (bytes[at] ?? 0).toString(16).padStart(2, '0')
      at += Math.max(length, 1)
    }
    // NUL stands for the escapes made here, which must not be escaped themselves; no file name contains it.
    return escapeText(out).replaceAll('\0', '\\x')
  }
}

/** Bytes of the UTF-8 character that starts here, or 0 when none does. */
function characterLength(bytes: Buffer, at: number, strict: TextDecoder): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++) {
    try {
      strict.decode(bytes.subarray(at, at + length))
      return length
    } catch {}
  }
  return 0
}
