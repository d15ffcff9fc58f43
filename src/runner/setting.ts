import { join } from 'node:path'
import type { Phase } from '../api/work.ts'
import { loadLoopConfig } from '../config/loop.ts'
import { loadConfigMd, type MachineConfig } from '../config/machine.ts'
import { loadModels, loadProjectConfig } from '../config/project.ts'
import { AutomatonError } from '../errors.ts'
import type { LoopConfig, Models, ProjectConfig } from '../machine/config.ts'
import { keptPhases, loopPhases } from '../machine/phases.ts'
import { readBounded } from '../store/atomic.ts'
import type { LoopPlaces, Project } from '../store/layout.ts'
import { findRepository, type Repository } from '../system/repository.ts'

const configLimit = 1 << 20

/** What people decided about a loop, read once a tick. */
export interface Setting {
  config: LoopConfig | null
  /** Why `config` is null. */
  problem: AutomatonError | null
  warnings: string[]
  models: Models | null
  /** The project's phases, in order. */
  kept: Phase[]
  prices: ProjectConfig['prices']
  notify: ProjectConfig['notify']
  machine: MachineConfig
  repo: Repository | null
}

/** Reads a loop's configuration and what surrounds it. A broken file is a value, so that the gate can refuse. */
export function readSetting(places: LoopPlaces, project: Project, home: string): Setting {
  const setting: Setting = {
    config: null,
    problem: null,
    warnings: [],
    models: null,
    kept: keptPhases(null),
    prices: {},
    notify: [],
    machine: loadConfigMd(null),
    repo: null,
  }
  try {
    const text = readBounded(places.config, configLimit) ?? ''
    const loaded = loadLoopConfig({ file: places.config, text })
    setting.warnings.push(...loaded.warnings)
    const { phases, prices, notify } = readProject(project)
    Object.assign(setting, { kept: keptPhases(phases), prices, notify })
    setting.models = loadModels(readBounded(join(home, 'models.json'), configLimit))
    setting.machine = loadConfigMd(readBounded(join(home, 'config.md'), configLimit))
    setting.repo = findRepository(project.root)
    setting.config = loaded.config
  } catch (error) {
    if (!(error instanceof AutomatonError)) throw error
    setting.problem = error
  }
  return setting
}

/** The phases that a loop may work: its own list, within what the project keeps and what loops ever work. */
export function allowedPhases(config: LoopConfig, kept: readonly Phase[]): Phase[] {
  const wanted = config.work_source.phases ?? loopPhases
  return loopPhases.filter((phase) => kept.includes(phase) && wanted.includes(phase))
}

function readProject(project: Project) {
  return loadProjectConfig(readBounded(join(project.automaton, 'config.json'), configLimit))
}
