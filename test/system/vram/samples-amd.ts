import { amdSmiCards } from '../../../src/system/vram/amd-smi.ts'
import { rocmCards } from '../../../src/system/vram/rocm-smi.ts'
import { mib, type Sample } from './sample.ts'

/** Of `rocm-smi` and `amd-smi`. */
export const amdSamples: readonly Sample[] = [
  {
    what: 'rocm-smi, text',
    read: rocmCards,
    text: 'GPU[0]          : VRAM Total Memory (B): 8573157376\nGPU[0]          : VRAM Total Used Memory (B): 60448768\n',
    cards: [['AMD GPU 0', 8_573_157_376]],
  },
  {
    what: 'rocm-smi, a table',
    read: rocmCards,
    text: 'Device  Node  VRAM Total Memory (B)   VRAM Total Used Memory (B)\n0       2     34342961152             16893952\n',
    cards: [['AMD GPU 0', 34_342_961_152]],
  },
  {
    what: 'rocm-smi, JSON',
    read: rocmCards,
    text: '{"card0":{"VRAM Total Memory (B)":"21458059264","VRAM Total Used Memory (B)":"27856896","Card Series":"Radeon RX 7900 XT"},"system":{"Driver version":"6.8"}}',
    cards: [['Radeon RX 7900 XT', 21_458_059_264]],
  },
  {
    what: 'rocm-smi, JSON after a warning',
    read: rocmCards,
    text: 'WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status\n\n{"card0":{"VRAM Total Memory (B)":"17163091968","Card series":"N/A"}}\n',
    cards: [['AMD card0', 17_163_091_968]],
  },
  {
    what: 'rocm-smi, CSV',
    read: rocmCards,
    text: 'device,VRAM Total Memory (B),VRAM Total Used Memory (B)\ncard0,25753026560,416378880\n',
    cards: [['AMD GPU 0', 25_753_026_560]],
  },
  {
    what: 'rocm-smi, CSV after a warning',
    read: rocmCards,
    text: 'WARNING: AMD GPU device(s) is/are in a low-power state.\ndevice,VRAM Total Memory (B),VRAM Total Used Memory (B)\ncard1,25753026560,416378880\n',
    cards: [['AMD GPU 1', 25_753_026_560]],
  },
  {
    what: 'rocm-smi, a size that is not known',
    read: rocmCards,
    text: '{"card0":{"VRAM Total Memory (B)":"N/A"},"card1":{"VRAM Total Memory (B)":0}}',
    cards: [],
  },
  {
    what: 'rocm-smi, garbage',
    read: rocmCards,
    text: 'Traceback (most recent call last):\n  File "/opt/rocm/bin/rocm-smi"\n{',
    cards: [],
  },
  {
    what: 'amd-smi, a list',
    read: amdSmiCards,
    text: '[{"gpu":0,"mem_usage":{"total_vram":{"value":196592,"unit":"MB"},"used_vram":{"value":17153,"unit":"MB"},"free_vram":"N/A"}}]',
    cards: [['AMD GPU 0', 196_592 * mib]],
  },
  {
    what: 'amd-smi, gpu_data',
    read: amdSmiCards,
    text: '{"gpu_data":[{"gpu":0,"mem_usage":{"used_vram":{"value":2048,"unit":"MB"},"total_vram":{"value":65536,"unit":"MB"}}}]}',
    cards: [['AMD GPU 0', 65_536 * mib]],
  },
  {
    what: 'amd-smi, static',
    read: amdSmiCards,
    text: '[{"gpu":0,"vram":{"type":"HBM","vendor":"N/A","size":{"value":64289,"unit":"MB"}}}]',
    cards: [['AMD GPU 0', 64_289 * mib]],
  },
  {
    what: 'amd-smi, a bare text',
    read: amdSmiCards,
    text: '[{"gpu":1,"vram":{"size":"64289 MB"}}]',
    cards: [['AMD GPU 1', 64_289 * mib]],
  },
  {
    what: 'amd-smi, for people',
    read: amdSmiCards,
    text: 'GPU: 0\n    VRAM:\n        TYPE: HBM\n        SIZE: 64289 MB\n',
    cards: [['AMD GPU 0', 64_289 * mib]],
  },
  {
    what: 'amd-smi, after a warning',
    read: amdSmiCards,
    text: 'WARNING: User is missing the following required groups: render\n[{"gpu":0,"mem_usage":{"total_vram":{"value":16368,"unit":"MB"}}}]',
    cards: [['AMD GPU 0', 16_368 * mib]],
  },
  {
    what: 'amd-smi, not known',
    read: amdSmiCards,
    text: '[{"gpu":0,"mem_usage":{"total_vram":"N/A"}}]',
    cards: [],
  },
  {
    what: 'amd-smi, a unit from elsewhere',
    read: amdSmiCards,
    text: '[{"gpu":0,"mem_usage":{"total_vram":{"value":65536,"unit":"Mo"}}}]',
    cards: [],
  },
  { what: 'amd-smi, garbage', read: amdSmiCards, text: '[not json]', cards: [] },
]
