/** Where the parts of a Mach-O program are that a signature is about; offsets in bytes. */
export interface MachO {
  /** The load command that says where the signature lies: its own place, and what it says. */
  signature: { command: number; start: number; size: number }
  /** The segment with the code. */
  text: { start: number; size: number }
  /** The last segment, which the signature closes: the place of its load command, and where it starts. */
  linkEdit: { command: number; start: number }
}

/** Reads a 64-bit Mach-O program that is signed, or has room for a signature. Throws for others. */
export function readMachO(file: Buffer): MachO {
  let signature: MachO['signature'] | undefined
  const segments = new Map<string, { command: number; start: number; size: number }>()
  let at = headerSize
  for (let left = file.readUInt32LE(16); left > 0; left--) {
    const command = file.readUInt32LE(at)
    if (command === segmentCommand) {
      const name = file.toString('latin1', at + 8, at + 24).replace(/\0+$/, '')
      const [start, size] = [Number(file.readBigUInt64LE(at + 40)), Number(file.readBigUInt64LE(at + 48))]
      segments.set(name, { command: at, start, size })
    }
    if (command === signatureCommand) {
      signature = { command: at, start: file.readUInt32LE(at + 8), size: file.readUInt32LE(at + 12) }
    }
    at += file.readUInt32LE(at + 4)
  }
  const [text, linkEdit] = [segments.get('__TEXT'), segments.get('__LINKEDIT')]
  if (!signature || !text || !linkEdit) throw new Error('the program has no place for a signature')
  return { signature, text, linkEdit }
}

const headerSize = 32
const segmentCommand = 0x19
const signatureCommand = 0x1d
