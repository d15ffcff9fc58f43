import { join } from 'node:path'
import type { App } from '../app.ts'
import { loadTemplate } from '../assets/templates.ts'
import { loadConfigMd } from '../config/machine.ts'
import { loadModels } from '../config/project.ts'
import { fillTemplate } from '../config/template.ts'
import { AutomatonError } from '../errors.ts'
import { availableTokens, contextFloor, type RoleContext } from '../machine/budget.ts'
import type { Detection } from '../machine/cards.ts'
import { contextFix } from '../machine/gate.ts'
import { contextsOf, serverOf } from '../runner/context.ts'
import { memoryOf } from '../runner/memory.ts'
import type { Setting } from '../runner/setting.ts'
import { readBounded } from '../store/atomic.ts'
import { loopPlaces, type Project } from '../store/layout.ts'
import { listLoops } from '../store/loops.ts'
import type { ServerWord } from '../system/vram/servers/ask.ts'
import { loopContext } from './loop-context.ts'
import { loopFacts } from './loop-facts.ts'

/** The context windows of one loop. */
export interface LoopBudget {
  loop: string
  /** What runs its sessions. */
  harness: string
  roles: RoleContext[]
}

/** What this machine's memory is, how that is known, and how much context it gives each role. */
export interface VramReport {
  at: string
  detected: Detection
  /** Tokens of context that the memory has room for, for any model; null when it is unknown. */
  available: number | null
  floor: number
  backend: Setting['machine']['backend']
  override: Setting['machine']['contextOverride']
  server: ServerWord | null
  /** What a loop made from the template `backlog` would have. */
  roles: RoleContext[]
  loops: LoopBudget[]
  /** The smallest window of all: what a task has to fit. */
  smallest: number
  /** The file in which a person overrides what was found. */
  config: string
  /** What to do about a window below the floor; empty when there is none. */
  fix: string
}

/** Looks at this machine's memory; outside of a project nothing is kept. Throws `bad_config` for a `config.md` that is wrong. */
export async function vram(app: App, { refresh }: { refresh: boolean }): Promise<VramReport> {
  const project = projectOrNull(app)
  const file = join(app.home, 'config.md')
  const machine = loadConfigMd(readBounded(file, limit), file)
  const models = loadModels(readBounded(join(app.home, 'models.json'), limit))
  const deps = { ...app, project, host: await app.host() }
  const detected = await memoryOf(deps, { refresh })
  const template = loadTemplate({ name: 'backlog', home: app.home, cwd: app.cwd })
  const { config } = fillTemplate({ file: template.from, text: template.text, name: 'new' })
  const { roles, server } = await contextsOf({
    config,
    setting: { machine, models },
    phase: null,
    deps,
    memory: detected,
  })
  const loops = project ? await budgets(app, project, detected) : []
  const all = [...(loops.length === 0 ? roles : []), ...loops.flatMap((loop) => loop.roles)]
  const short = all.filter(({ effective }) => effective < contextFloor)
  return {
    at: app.clock.iso(),
    detected,
    available: detected.bytes === null ? null : availableTokens(detected.bytes),
    floor: contextFloor,
    backend: machine.backend,
    override: machine.contextOverride,
    server: server ?? (await serverOf(machine)),
    roles,
    loops,
    smallest: Math.min(...all.map(({ effective }) => effective)),
    config: file,
    fix: contextFix(short),
  }
}

const limit = 1 << 20

async function budgets(app: App, project: Project, memory: Detection): Promise<LoopBudget[]> {
  const found: LoopBudget[] = []
  for (const loop of listLoops(project)) {
    const facts = loopFacts(loopPlaces(project, loop), app.clock.now())
    const context = await loopContext(app, facts, memory)
    if (!facts.config || !context) continue
    const { command, use } = facts.config.harness
    found.push({ loop, harness: command?.[0] ?? use, roles: context.roles })
  }
  return found
}

function projectOrNull(app: App): Project | null {
  try {
    return app.project()
  } catch (error) {
    if (error instanceof AutomatonError && error.code === 'no_project') return null
    throw error
  }
}
