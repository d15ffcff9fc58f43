import { join } from 'node:path'
import { type Card, cardBytes, type Vendor } from '../../machine/cards.ts'
import { lookAt, notInstalled } from './look.ts'
import type { Probe } from './tools.ts'
import { type Adapters, adapterNames } from './windows-adapters.ts'

/** The class of display adapters. */
const key = 'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}'

/**
 * The cards as their drivers described them in the registry of Windows: the one place with all 64 bits of the size. It
 * remembers cards that were taken out, so `adapters` says which are there.
 */
export function windowsRegistry(systemRoot: string, adapters: Adapters): Probe {
  return {
    name: 'registry',
    async look(tools) {
      const run = tools.program(join(systemRoot, 'System32', 'reg.exe'))
      if (!run) return notInstalled
      // One subkey is closed to users, which makes it end with 1 after it has printed the others.
      const [said, there] = await Promise.all([run(['query', key, '/s']), adapters(tools)])
      return lookAt(presentCards(registryCards(said.text), adapterNames(there?.text ?? '')), said)
    },
  }
}

/** The cards of the named adapters: of the same name, or of the only one whose name holds the other; all where none is named. */
export function presentCards(cards: readonly Card[], names: readonly string[]): Card[] {
  const there = names.map(plainName)
  if (there.length === 0) return [...cards]
  return cards.filter((card) => {
    const name = plainName(card.name)
    const alike = there.filter((other) => other.includes(name) || name.includes(other))
    return there.includes(name) || alike.length === 1
  })
}

/** The cards in the answer of `reg query KEY /s`; adapters without memory of their own are left out. */
export function registryCards(text: string): Card[] {
  return text.split(/^(?=HKEY_)/m).flatMap((block): Card[] => {
    // Settings of an adapter lie in keys below its own.
    if (!/^HKEY_[^\r\n]*\\\d{4}\s*$/m.test(block)) return []
    const name = entryOf(block, 'DriverDesc')?.data ?? 'display adapter'
    const bytes =
      sizeOf(block, 'HardwareInformation.qwMemorySize') ?? sizeOf(block, 'HardwareInformation.MemorySize')
    return bytes === null || !hasOwnMemory(name)
      ? []
      : [{ name, vendor: vendorOf(name), bytes, memory: 'own' }]
  })
}

/** False for what only shows pictures, and for a processor's graphics: its number is a window onto the machine's memory. */
export function hasOwnMemory(name: string): boolean {
  const plain = plainName(name)
  if (
    /\b(?:Microsoft|Remote|Virtual|Mirror|Indirect|Parsec|DisplayLink|Citrix|VMware|VirtualBox|QXL|Hyper-V)\b/i.test(
      plain,
    )
  )
    return false
  if (/\bIntel\b/i.test(plain)) return /\bArc [AB]\d|\bArc Pro\b|\bData Center\b/i.test(plain)
  return !/^AMD Radeon(?: \d{3,4}[MS])?(?: Vega ?\d*)?(?: Graphics)?$/i.test(plain)
}

/** Who made it, by its name. */
export function vendorOf(name: string): Vendor {
  if (/NVIDIA|GeForce|Quadro/i.test(name)) return 'nvidia'
  if (/AMD|Radeon/i.test(name)) return 'amd'
  return /Intel/i.test(name) ? 'intel' : 'other'
}

/** Without the marks that one place writes and another leaves out. */
function plainName(name: string): string {
  return name
    .replace(/\((?:R|TM|C)\)/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

function entryOf(block: string, name: string): { type: string; data: string } | null {
  for (const line of block.split(/\r?\n/)) {
    const [, found, type = '', data = ''] = /^ {4}(\S.*?) {4}(REG_\w+) {4}(.*)$/.exec(line) ?? []
    if (found === name) return { type, data: data.trim() }
  }
  return null
}

/** A number in hexadecimal, or bytes with the lowest first. Four bytes can hold no more than 4 GiB less one: those are too full to be believed. */
function sizeOf(block: string, name: string): number | null {
  const value = entryOf(block, name)
  if (!value) return null
  const { type, data } = value
  const digits =
    type === 'REG_BINARY' ? (data.match(/../g) ?? []).reverse().join('') : data.replace(/^0x/i, '')
  if (!/^[0-9a-f]{1,16}$/i.test(digits)) return null
  const bytes = cardBytes(BigInt(`0x${digits}`).toString(), 1)
  const isNarrow = type === 'REG_DWORD' || (type === 'REG_BINARY' && digits.length <= 8)
  return bytes !== null && isNarrow && bytes >= mostIn32Bits ? null : bytes
}

/** 4095 MiB: what a field of 32 bits says of a card with 4 GiB or more. */
export const mostIn32Bits = 4_293_918_720
