import { chooseCard, type Detection } from '../../machine/cards.ts'
import { amdSmi } from './amd-smi.ts'
import { amdSysfs } from './amd-sysfs.ts'
import { apple } from './apple.ts'
import { intelSysfs } from './intel-sysfs.ts'
import { nvidiaSmi } from './nvidia-smi.ts'
import { rocmSmi } from './rocm-smi.ts'
import { machineTools, type Probe, type Tools, type ToolsOptions } from './tools.ts'
import { askAdapters } from './windows-adapters.ts'
import { windowsCim } from './windows-cim.ts'
import { windowsRegistry } from './windows-registry.ts'
import { xpuSmi } from './xpu-smi.ts'

/** Asks this machine for its memory: all probes of the platform at once, each program for five seconds at most. Never throws for what a probe meets. */
export async function detect(o: Omit<ToolsOptions, 'platform'> & { at: string }): Promise<Detection> {
  const { platform } = process
  return lookAround(probesFor(platform, o.env), machineTools({ ...o, platform }), o.at)
}

/** The probes of a platform, in the order in which they are believed. */
export function probesFor(platform: NodeJS.Platform, env: ToolsOptions['env']): Probe[] {
  const windows = env.SystemRoot ?? 'C:\\Windows'
  if (platform === 'darwin') return [apple]
  if (platform === 'win32') {
    const adapters = askAdapters(windows)
    return [nvidiaSmi, windowsRegistry(windows, adapters), windowsCim(adapters)]
  }
  return [nvidiaSmi, amdSmi, rocmSmi, amdSysfs, xpuSmi, intelSysfs]
}

/** Lets the probes look, and chooses. */
export async function lookAround(probes: readonly Probe[], tools: Tools, at: string): Promise<Detection> {
  const looks = await Promise.all(
    probes.map(async ({ name, look }) => ({ probe: name, ...(await look(tools)) })),
  )
  const chosen = chooseCard(looks)
  return {
    bytes: chosen?.card.bytes ?? null,
    source: chosen?.probe ?? null,
    device: chosen?.card.name ?? null,
    memory: chosen?.card.memory ?? null,
    tried: looks.map(({ probe, outcome }) => ({ probe, outcome })),
    at,
  }
}
