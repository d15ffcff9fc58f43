import { toNamespacedPath } from 'node:path'
import { at, invalidHandle, kernel32 } from './kernel32.ts'

/** A file that nobody else can open while this is held. */
export interface SoleHandle {
  close(): void
}

/** Opens a file for this process alone, making it when missing. Null when another process has it open. */
export function openSole(file: string): SoleHandle | null {
  const path = Buffer.from(`${toNamespacedPath(file)}\0`, 'utf16le')
  const calls = kernel32()
  const handle = calls.CreateFileW(at(path), readWrite, 0, null, openAlways, normalFile, null)
  if (handle !== invalidHandle) return { close: () => void calls.CloseHandle(handle) }
  const code = calls.GetLastError()
  // The runtime may have cleared the code before it is read; then the only usual cause is assumed.
  if (code === sharingViolation || code === lockViolation || code === 0) return null
  throw new Error(`CreateFileW failed with error ${code}`)
}

const readWrite = 0xc000_0000
const openAlways = 4
const normalFile = 0x80
const sharingViolation = 32
const lockViolation = 33
