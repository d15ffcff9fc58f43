import { join } from 'node:path'
import * as v from 'valibot'
import { jsonIn } from './look.ts'
import type { Said, Tools } from './tools.ts'

const script = 'Get-CimInstance Win32_VideoController | Select-Object Name,AdapterRAM | ConvertTo-Json'

/** Asks Windows for its display adapters; null where there is no PowerShell. */
export type Adapters = (tools: Tools) => Promise<Said | null>

/** Asks once, however many probes want to know: PowerShell takes its time. */
export function askAdapters(systemRoot: string): Adapters {
  const shell = join(systemRoot, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe')
  let asked: Promise<Said | null> | null = null
  return (tools) => {
    const run = tools.program(shell)
    asked ??= run?.(['-NoProfile', '-NonInteractive', '-Command', script]) ?? Promise.resolve(null)
    return asked
  }
}

/** The adapters in the answer, an object for one and a list for several. */
export function readAdapters(text: string): v.InferOutput<typeof controller>[] {
  const parsed = v.safeParse(answer, jsonIn(text))
  if (!parsed.success) return []
  return Array.isArray(parsed.output) ? parsed.output : [parsed.output]
}

/** Their names. */
export function adapterNames(text: string): string[] {
  return readAdapters(text).map(({ Name }) => Name)
}

const controller = v.object({ Name: v.string(), AdapterRAM: v.nullish(v.number()) })
const answer = v.union([controller, v.array(controller)])
