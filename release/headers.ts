import type { Target } from './targets.ts'

/** What a program's header says it runs on. */
export type Header = Pick<Target, 'os' | 'cpu' | 'libc'>

/** Reads the header of an ELF, Mach-O (64 bit) or PE program or library. Throws for anything else. */
export function headerOf(file: Buffer): Header {
  if (file.length < 64) throw new Error('it is no program: it is too short')
  const magic = file.readUInt32BE(0)
  if (magic === elfMagic) return elf(file)
  if (magic === machO64Magic) return { os: 'darwin', cpu: cpuOf(file.readUInt32LE(4)) }
  if (file.readUInt16BE(0) === dosMagic) return pe(file)
  throw new Error(`it is no program: it starts with 0x${magic.toString(16)}`)
}

const elfMagic = 0x7f454c46
const machO64Magic = 0xcffaedfe
const dosMagic = 0x4d5a
const peMagic = 0x50450000
const programInterpreter = 3

/** The processors' codes: e_machine of ELF, cputype of Mach-O, Machine of PE. */
const cpus: Record<number, Target['cpu']> = {
  62: 'x64',
  183: 'arm64',
  16777223: 'x64',
  16777228: 'arm64',
  34404: 'x64',
  43620: 'arm64',
}

function cpuOf(code: number): Target['cpu'] {
  const cpu = cpus[code]
  if (!cpu) throw new Error(`it is for a processor with the code ${code}`)
  return cpu
}

/** A library names no loader, and so says nothing of its C library. */
function elf(file: Buffer): Header {
  const cpu = cpuOf(file.readUInt16LE(18))
  const table = Number(file.readBigUInt64LE(32))
  const size = file.readUInt16LE(54)
  for (let entry = 0; entry < file.readUInt16LE(56); entry++) {
    const at = table + entry * size
    if (file.readUInt32LE(at) !== programInterpreter) continue
    const start = Number(file.readBigUInt64LE(at + 8))
    const loader = file.toString('latin1', start, start + Number(file.readBigUInt64LE(at + 32)))
    return { os: 'linux', cpu, libc: loader.includes('/ld-musl-') ? 'musl' : 'glibc' }
  }
  return { os: 'linux', cpu }
}

function pe(file: Buffer): Header {
  const at = file.readUInt32LE(60)
  if (file.readUInt32BE(at) !== peMagic) throw new Error('it is a program for DOS')
  return { os: 'windows', cpu: cpuOf(file.readUInt16LE(at + 4)) }
}
