import { migCards } from '../../../src/system/vram/nvidia-mig.ts'
import { nvidiaCards, nvidiaRows } from '../../../src/system/vram/nvidia-smi.ts'
import { mib, type Sample, sparkMemory } from './sample.ts'

const nvidia =
  (...columns: string[]) =>
  (text: string) =>
    nvidiaCards(nvidiaRows(text, columns), sparkMemory)
const usual = nvidia('name', 'memory.total', 'memory.free')
const byMode = nvidia('addressing_mode', 'memory.total', 'name')
const asked = nvidia('addressing_mode', 'mig.mode.current', 'memory.total', 'name')

const mig = (slices: string, total: string) =>
  `<?xml version="1.0" ?><nvidia_smi_log><gpu id="0"><product_name>NVIDIA A100-SXM4-40GB</product_name><mig_mode><current_mig>Enabled</current_mig></mig_mode><mig_devices>${slices}</mig_devices><fb_memory_usage><total>${total}</total></fb_memory_usage><bar1_memory_usage><total>65536 MiB</total></bar1_memory_usage></gpu></nvidia_smi_log>`
const slice = (total: string) =>
  `<mig_device><index>0</index><fb_memory_usage><total>${total}</total></fb_memory_usage><bar1_memory_usage><total>16383 MiB</total></bar1_memory_usage></mig_device>`

/** Of `nvidia-smi`. */
export const nvidiaSamples: readonly Sample[] = [
  {
    what: 'nvidia-smi, one card',
    read: usual,
    text: 'NVIDIA GeForce RTX 4090, 24564, 23510\n',
    cards: [['NVIDIA GeForce RTX 4090', 24_564 * mib]],
  },
  {
    what: 'nvidia-smi, with units',
    read: nvidia('name', 'memory.total'),
    text: 'NVIDIA RTX A3000 Laptop GPU, 6144 MiB\n',
    cards: [['NVIDIA RTX A3000 Laptop GPU', 6144 * mib]],
  },
  {
    what: 'nvidia-smi, with a heading',
    read: usual,
    text: 'index, name, memory.total [MiB], memory.free [MiB]\r\n0, NVIDIA GeForce RTX 4090, 24564 MiB, 23510 MiB\r\n',
    cards: [['NVIDIA GeForce RTX 4090', 24_564 * mib]],
  },
  {
    what: 'nvidia-smi, two cards of one name',
    read: usual,
    text: 'NVIDIA L4, 23034, 22000\nNVIDIA L4, 23034, 100\n',
    cards: [
      ['NVIDIA L4', 23_034 * mib],
      ['NVIDIA L4', 23_034 * mib],
    ],
  },
  {
    what: 'nvidia-smi, a comma in the name',
    read: usual,
    text: 'NVIDIA RTX 6000, Ada Generation, 49140, 48000\n',
    cards: [['NVIDIA RTX 6000, Ada Generation', 49_140 * mib]],
  },
  {
    what: 'nvidia-smi, DGX Spark',
    read: usual,
    text: 'NVIDIA GB10, [N/A], [N/A]\n',
    cards: [['NVIDIA GB10', sparkMemory, 'shared']],
  },
  {
    what: 'nvidia-smi, DGX Spark whose driver tells the system’s total',
    read: usual,
    text: 'NVIDIA GB10, 122549, 100000\n',
    cards: [['NVIDIA GB10', sparkMemory, 'shared']],
  },
  {
    what: 'nvidia-smi, Thor',
    read: byMode,
    text: 'ATS, [N/A], NVIDIA Thor\n',
    cards: [['NVIDIA Thor', sparkMemory, 'shared']],
  },
  {
    what: 'nvidia-smi, Jetson',
    read: byMode,
    text: 'N/A, [N/A], Orin (nvgpu)\n',
    cards: [['Orin (nvgpu)', sparkMemory, 'shared']],
  },
  {
    what: 'nvidia-smi, a discrete card in the same query',
    read: byMode,
    text: 'None, 24564, NVIDIA GeForce RTX 4090\n',
    cards: [['NVIDIA GeForce RTX 4090', 24_564 * mib]],
  },
  {
    what: 'nvidia-smi, GH200: one address space, memory of its own',
    read: byMode,
    text: 'ATS, 97871, NVIDIA GH200 480GB\n',
    cards: [['NVIDIA GH200 480GB', 97_871 * mib]],
  },
  {
    what: 'nvidia-smi, the columns that automaton asks for',
    read: asked,
    text: 'None, Disabled, 81559, NVIDIA H100 80GB HBM3\n',
    cards: [['NVIDIA H100 80GB HBM3', 81_559 * mib]],
  },
  {
    what: 'nvidia-smi, a laptop whose size is unknown',
    read: asked,
    text: 'None, N/A, [N/A], NVIDIA GeForce MX150\n',
    cards: [],
  },
  {
    what: 'nvidia-smi, sliced, in a container',
    read: nvidia(
      'name',
      'driver_version',
      'temperature.gpu',
      'utilization.gpu',
      'utilization.memory',
      'memory.total',
      'memory.free',
      'memory.used',
    ),
    text: 'NVIDIA A100-SXM4-80GB, 535.161.08, 47, [N/A], [N/A], [Insufficient Permissions], [Insufficient Permissions], [Insufficient Permissions]\n',
    cards: [],
  },
  {
    what: 'nvidia-smi, its table for people',
    read: usual,
    text: '| N/A 36C P8 3W / N/A | Not Supported | 0% Default |\n',
    cards: [],
  },
  {
    what: 'nvidia-smi, thousands with commas',
    read: asked,
    text: 'None, N/A, 24,564, NVIDIA GeForce RTX 4090\n',
    cards: [],
  },
  {
    what: 'nvidia-smi, thousands with points',
    read: asked,
    text: 'None, N/A, 24.564, NVIDIA GeForce RTX 4090\n',
    cards: [],
  },
  {
    what: 'nvidia-smi, nothing left',
    read: asked,
    text: 'None, N/A, 0, NVIDIA GeForce RTX 4090\n',
    cards: [],
  },
  {
    what: 'nvidia-smi, the driver does not fit',
    read: asked,
    text: 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n',
    cards: [],
  },
  {
    what: 'nvidia-smi, no driver',
    read: asked,
    text: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n",
    cards: [],
  },
  {
    what: 'nvidia-smi -q -x, slices',
    read: migCards,
    text: mig(slice('4864 MiB'), 'Insufficient Permissions'),
    cards: [['NVIDIA A100-SXM4-40GB (MIG)', 4864 * mib]],
  },
  {
    what: 'nvidia-smi -q -x, the largest slice',
    read: migCards,
    text: mig(slice('4864 MiB') + slice('20096 MiB') + slice('9856 MiB'), '40960 MiB'),
    cards: [['NVIDIA A100-SXM4-40GB (MIG)', 20_096 * mib]],
  },
  {
    what: 'nvidia-smi -q -x, sliced without a slice for this container',
    read: migCards,
    text: mig('', 'Insufficient Permissions'),
    cards: [],
  },
  {
    what: 'nvidia-smi -q -x, a card that is whole',
    read: migCards,
    text: mig('None', '40960 MiB'),
    cards: [['NVIDIA A100-SXM4-40GB', 40_960 * mib]],
  },
  {
    what: 'nvidia-smi -q -x, cut off',
    read: migCards,
    text: mig(slice('4864 MiB'), 'x').slice(0, 150),
    cards: [],
  },
  { what: 'nvidia-smi, NaN', read: asked, text: 'None, N/A, nan, NVIDIA GeForce RTX 4090\n', cards: [] },
  { what: 'nvidia-smi, no card', read: asked, text: 'No devices were found\n', cards: [] },
  { what: 'nvidia-smi, garbage', read: asked, text: '\u0000\ufffd,,,,\n,\n\n[]{}', cards: [] },
  { what: 'nvidia-smi -q -x, something else', read: migCards, text: 'Failed to initialize NVML', cards: [] },
]
