import { appleCards } from '../../../src/system/vram/apple.ts'
import { cimCards } from '../../../src/system/vram/windows-cim.ts'
import { registryCards } from '../../../src/system/vram/windows-registry.ts'
import { xpuCards } from '../../../src/system/vram/xpu-smi.ts'
import { gib, mib, type Sample } from './sample.ts'

const classKey =
  'HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control\\Class\\{4d36e968-e325-11ce-bfc1-08002be10318}'
const registry = (name: string, line: string, number = '0001') =>
  `${classKey}\\${number}\r\n    DriverDesc    REG_SZ    ${name}\r\n    ${line}\r\n\r\n`
const rx = 'AMD Radeon RX 7900 XTX'

/** Of macOS, Windows and `xpu-smi`. */
export const otherSamples: readonly Sample[] = [
  {
    what: 'sysctl, 16 GB',
    read: appleCards,
    text: 'hw.memsize: 17179869184\niogpu.wired_limit_mb: 0\nmachdep.cpu.brand_string: Apple M3\n',
    cards: [['Apple M3', Math.floor((16 * gib * 2) / 3), 'shared']],
  },
  {
    what: 'sysctl, 128 GB',
    read: appleCards,
    text: 'hw.memsize: 137438953472\niogpu.wired_limit_mb: 0\nmachdep.cpu.brand_string: Apple M4 Max\n',
    cards: [['Apple M4 Max', 96 * gib, 'shared']],
  },
  {
    what: 'sysctl, a limit that was set',
    read: appleCards,
    text: 'hw.memsize: 137438953472\niogpu.wired_limit_mb: 114688\nmachdep.cpu.brand_string: Apple M4 Max\n',
    cards: [['Apple M4 Max', 112 * gib, 'shared']],
  },
  {
    what: 'sysctl, a limit above the memory',
    read: appleCards,
    text: 'hw.memsize: 17179869184\niogpu.wired_limit_mb: 114688\nmachdep.cpu.brand_string: Apple M3\n',
    cards: [['Apple M3', 16 * gib, 'shared']],
  },
  {
    what: 'sysctl, an older system without the limit',
    read: appleCards,
    text: 'hw.memsize: 34359738368\nmachdep.cpu.brand_string: Apple M1 Pro\n',
    cards: [['Apple M1 Pro', Math.floor((32 * gib * 2) / 3), 'shared']],
  },
  {
    what: 'sysctl, Intel’s processor',
    read: appleCards,
    text: 'hw.memsize: 34359738368\nmachdep.cpu.brand_string: Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz\n',
    cards: [],
  },
  {
    what: 'registry, 24 GiB',
    read: registryCards,
    text: registry(rx, 'HardwareInformation.qwMemorySize    REG_QWORD    0x600000000'),
    cards: [[rx, 24 * gib]],
  },
  {
    what: 'registry, bytes',
    read: registryCards,
    text: registry(rx, 'HardwareInformation.qwMemorySize    REG_BINARY    0000000006000000'),
    cards: [[rx, 24 * gib]],
  },
  {
    what: 'registry, an old driver',
    read: registryCards,
    text: registry('AMD Radeon HD 7850', 'HardwareInformation.MemorySize    REG_BINARY    00000080'),
    cards: [['AMD Radeon HD 7850', 2 * gib]],
  },
  {
    what: 'registry, an old field that is full',
    read: registryCards,
    text: registry(rx, 'HardwareInformation.MemorySize    REG_DWORD    0xffffffff'),
    cards: [],
  },
  {
    what: 'registry, another unit',
    read: registryCards,
    text: registry(rx, 'HardwareInformation.qwMemorySize    REG_QWORD    0x6000'),
    cards: [],
  },
  {
    what: 'registry, zero',
    read: registryCards,
    text: registry(rx, 'HardwareInformation.qwMemorySize    REG_QWORD    0x0'),
    cards: [],
  },
  {
    what: 'registry, no number',
    read: registryCards,
    text: registry(rx, 'HardwareInformation.qwMemorySize    REG_SZ    many'),
    cards: [],
  },
  {
    what: 'registry, no size',
    read: registryCards,
    text: registry(rx, 'ProviderName    REG_SZ    AMD'),
    cards: [],
  },
  {
    what: 'registry, two adapters and what users may not read',
    read: registryCards,
    text: `${registry('Intel(R) UHD Graphics 770', 'HardwareInformation.qwMemorySize    REG_QWORD    0x40000000', '0000')}${registry('NVIDIA GeForce RTX 4070', 'HardwareInformation.qwMemorySize    REG_QWORD    0x300000000')}${classKey}\\0001\\Settings\r\n    HardwareInformation.qwMemorySize    REG_QWORD    0x900000000\r\n\r\nERROR: Access is denied.\r\n`,
    cards: [['NVIDIA GeForce RTX 4070', 12 * gib]],
  },
  {
    what: 'registry, an Arc card',
    read: registryCards,
    text: registry(
      'Intel(R) Arc(TM) A770 Graphics',
      'HardwareInformation.qwMemorySize    REG_QWORD    0x400000000',
    ),
    cards: [['Intel(R) Arc(TM) A770 Graphics', 16 * gib]],
  },
  {
    what: 'registry, the graphics of an AMD processor',
    read: registryCards,
    text: registry(
      'AMD Radeon(TM) 780M Graphics',
      'HardwareInformation.qwMemorySize    REG_QWORD    0x80000000',
    ),
    cards: [],
  },
  {
    what: 'CIM, one adapter, its 32 bits full',
    read: cimCards,
    text: '{"Name":"AMD Radeon RX 9060 XT","AdapterRAM":4293918720}',
    cards: [],
  },
  {
    what: 'CIM, several',
    read: cimCards,
    text: '[{"Name":"Microsoft Basic Display Adapter","AdapterRAM":null},{"Name":"NVIDIA GeForce GTX 1050","AdapterRAM":2147483648}]',
    cards: [['NVIDIA GeForce GTX 1050', 2 * gib]],
  },
  {
    what: 'CIM, a size that wrapped round to nothing',
    read: cimCards,
    text: '{"Name":"NVIDIA GeForce RTX 3070","AdapterRAM":0}',
    cards: [],
  },
  {
    what: 'CIM, nothing',
    read: cimCards,
    text: '{"Name":"Parsec Virtual Display Adapter","AdapterRAM":null}',
    cards: [],
  },
  {
    what: 'xpu-smi, one card',
    read: xpuCards,
    text: '{"device_name":"Intel(R) Arc(TM) A770 Graphics","memory_physical_size_byte":"17102532608"}',
    cards: [['Intel(R) Arc(TM) A770 Graphics', 17_102_532_608]],
  },
  {
    what: 'xpu-smi, a list',
    read: xpuCards,
    text: '{"device_list":[{"device_id":0,"device_name":"Intel(R) Arc(TM) B580","memory_physical_size_byte":12809404416},{"device_id":1}]}',
    cards: [['Intel(R) Arc(TM) B580', 12_809_404_416]],
  },
  {
    what: 'xpu-smi, devices',
    read: xpuCards,
    text: '{"devices":[{"device_name":"Intel Data Center GPU Max 1100","memory_physical_size_byte":"51522830336"}]}',
    cards: [['Intel Data Center GPU Max 1100', 51_522_830_336]],
  },
  {
    what: 'xpu-smi, a table',
    read: xpuCards,
    text: '| 0         | Device Name: Intel(R) Arc(TM) B580 Graphics     |\n|           | Memory Physical Size: 12216.00 MiB              |\n',
    cards: [['Intel graphics', 12_216 * mib]],
  },
  { what: 'sysctl, garbage', read: appleCards, text: 'sysctl: unknown oid\n', cards: [] },
  { what: 'CIM, garbage', read: cimCards, text: 'Get-CimInstance : Access denied', cards: [] },
  { what: 'xpu-smi, no device', read: xpuCards, text: '{"error":"No device discovered"}', cards: [] },
]
