import { createHash } from 'node:crypto'
import { readMachO } from './mach-o.ts'

/** What a Mach-O program's signature says, and whether it is true. */
export interface Signature {
  identifier: string
  /** Signed by nobody: it only proves that the file is whole. That is all that an Apple processor asks for. */
  adHoc: boolean
  /** Pages of the file whose hash is not the signed one. macOS ends a program that reads such a page. */
  badPages: number
}

/**
 * Signs a Mach-O program ad hoc, as Apple's linker does: hashes of all pages, and nobody's name. Bun signs its programs for
 * Apple processors like that; in those for Intel it leaves the signature of its own runtime, which no longer fits.
 * The format is that of Apple's cs_blobs.h.
 */
export function signAdHoc(file: Buffer, identifier: string): Buffer {
  const { signature, text, linkEdit } = readMachO(file)
  const limit = signature.start
  const name = Buffer.from(`${identifier}\0`)
  const pages = Math.ceil(limit / pageSize)
  const directorySize = directoryHead + name.length + pages * hashSize
  const size = blobHead + directorySize
  const signed = Buffer.alloc(limit + size)
  file.copy(signed, 0, 0, limit)
  signed.writeUInt32LE(size, signature.command + 12)
  // The segment ends where the file ends, and takes whole pages of memory.
  const length = limit + size - linkEdit.start
  signed.writeBigUInt64LE(BigInt(Math.ceil(length / memoryPage) * memoryPage), linkEdit.command + 32)
  signed.writeBigUInt64LE(BigInt(length), linkEdit.command + 48)
  const directory = Buffer.alloc(directorySize)
  const numbers = [
    directoryMagic,
    directorySize,
    version,
    adHocFlag | linkerFlag,
    directoryHead + name.length,
  ]
  for (const [index, number] of [...numbers, directoryHead, 0, pages, limit].entries()) {
    directory.writeUInt32BE(number, index * 4)
  }
  directory.set([hashSize, sha256, 0, Math.log2(pageSize)], 36)
  directory.writeBigUInt64BE(BigInt(text.start), 64)
  directory.writeBigUInt64BE(BigInt(text.size), 72)
  directory.writeBigUInt64BE(mainBinary, 80)
  directory.set(name, directoryHead)
  for (const [page, hash] of hashes(signed, { pages, limit, page: pageSize }).entries()) {
    directory.set(hash, directoryHead + name.length + page * hashSize)
  }
  for (const [index, number] of [superMagic, size, 1, 0, blobHead].entries()) {
    signed.writeUInt32BE(number, limit + index * 4)
  }
  directory.copy(signed, limit + blobHead)
  return signed
}

/** Reads a program's signature and compares every page with it. Throws where there is none. */
export function readSignature(file: Buffer): Signature {
  const { start } = readMachO(file).signature
  if (file.readUInt32BE(start) !== superMagic) throw new Error('the program is not signed')
  // The code directory always comes first.
  const at = start + file.readUInt32BE(start + 16)
  if (file.readUInt32BE(at) !== directoryMagic) throw new Error('the signature has no code directory')
  const word = (index: number) => file.readUInt32BE(at + index * 4)
  const [flags, hashStart, nameStart, pages, limit] = [word(3), word(4), word(5), word(7), word(8)]
  if (file[at + 36] !== hashSize || file[at + 37] !== sha256)
    throw new Error('the signature is not by SHA-256')
  const found = hashes(file, { pages, limit, page: 2 ** (file[at + 39] ?? 0) })
  const signed = (page: number) => file.subarray(at + hashStart + page * hashSize).subarray(0, hashSize)
  const name = at + nameStart
  return {
    identifier: file.toString('utf8', name, file.indexOf(0, name)),
    adHoc: (flags & adHocFlag) !== 0,
    badPages: found.filter((hash, page) => !hash.equals(signed(page))).length,
  }
}

const superMagic = 0xfade0cc0
const directoryMagic = 0xfade0c02
const version = 0x20400
const adHocFlag = 0x2
const linkerFlag = 0x20000
const mainBinary = 1n
const sha256 = 2
const hashSize = 32
const pageSize = 4096
const memoryPage = 16384
/** Bytes before the code directory: the outer blob with its one entry. */
const blobHead = 20
/** Bytes of the code directory before its identifier. */
const directoryHead = 88

function hashes(file: Buffer, o: { pages: number; limit: number; page: number }): Buffer[] {
  return Array.from({ length: o.pages }, (_, index) => {
    const page = file.subarray(index * o.page, Math.min((index + 1) * o.page, o.limit))
    return createHash('sha256').update(page).digest()
  })
}
