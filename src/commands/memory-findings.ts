import type { App } from '../app.ts'
import { availableTokens, contextFloor } from '../machine/budget.ts'
import { contextFix, floorWords } from '../machine/gate.ts'
import { memoryOf } from '../runner/memory.ts'
import type { Project } from '../store/layout.ts'
import type { Finding } from './doctor.ts'
import { loopContext } from './loop-context.ts'
import type { LoopFacts } from './loop-facts.ts'
import { memoryWords } from './memory-words.ts'

/** What this machine has for a model of its own. That there is nothing is no fault; a tool that failed is said. */
export async function memoryFinding(app: App, project: Project | null): Promise<Finding> {
  const found = await memoryOf({ ...app, project })
  const { bytes, tried } = found
  const finding = (detail: string): Finding => ({ what: 'memory', level: 'good', detail, fix: '' })
  if (bytes !== null) return finding(`${memoryWords(found)}: ${availableTokens(bytes)} tokens of context`)
  const odd = tried.filter(({ outcome }) => outcome !== 'not installed' && outcome !== 'no card')
  const detail = 'no memory for a local model was found: every role has its tier'
  if (odd.length === 0) return finding(detail)
  const said = odd.map(({ probe, outcome }) => `${probe}: ${outcome}`).join('; ')
  return { what: 'memory', level: 'hint', detail: `${detail} (${said})`, fix: 'automaton vram --refresh' }
}

/** The roles of a loop whose context is below the floor. */
export async function contextFindings(app: App, facts: LoopFacts): Promise<Finding[]> {
  const context = await loopContext(app, facts)
  const short = context?.roles.filter(({ effective }) => effective < contextFloor) ?? []
  if (short.length === 0) return []
  return [
    { what: `loop ${facts.places.name}`, level: 'bad', detail: floorWords(short), fix: contextFix(short) },
  ]
}
