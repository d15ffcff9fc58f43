import { resolve } from 'node:path'
import type { App } from '../app.ts'
import { errors } from '../errors.ts'
import { nearest } from '../machine/nearest.ts'
import { isWindows } from '../system/platform.ts'
import { canEdit } from './can-edit.ts'

/** An agent that asks a program before it uses a tool, and takes exit code 2 for a no. */
interface HookedAgent {
  /** Its settings, with a command that is asked before each edit. */
  settings(command: string): object
  /** Where they go. */
  file: string
  /** The key of a tool's input that names the file, by the tool's name. */
  edits: Readonly<Record<string, string>>
}

/** Longer than {@link checkMs}: an agent that waits in vain lets the edit pass. */
const agentSeconds = 60

/** Milliseconds after which an edit is refused because there is no answer yet. */
export const checkMs = 10_000

const agents: Readonly<Record<string, HookedAgent>> = {
  claude: {
    file: '.claude/settings.local.json',
    edits: { Edit: 'file_path', MultiEdit: 'file_path', Write: 'file_path', NotebookEdit: 'notebook_path' },
    settings: (command) => ({
      hooks: {
        PreToolUse: [
          {
            matcher: 'Edit|MultiEdit|Write|NotebookEdit',
            hooks: [{ type: 'command', command, timeout: agentSeconds }],
          },
        ],
      },
    }),
  },
  gemini: {
    file: '.gemini/settings.json',
    edits: { write_file: 'file_path', replace: 'file_path' },
    settings: (command) => ({
      hooks: {
        BeforeTool: [
          {
            matcher: 'write_file|replace',
            hooks: [{ name: 'automaton', type: 'command', command, timeout: agentSeconds * 1000 }],
          },
        ],
      },
    }),
  },
}

/** Settings for an agent. */
export interface HookReport {
  agent: string
  /** Where the agent looks for them, in the project. */
  file: string
  settings: object
}

/** The settings that make an agent ask automaton before each edit. Throws `usage` for an agent without such a hook. */
export function hook(app: App, { agent }: { agent: string }): HookReport {
  const { settings, file } = agentNamed(agent)
  return { agent, file, settings: settings(commandLine(app.self, agent)) }
}

/** Whether the edit that an agent asks about may go on, and why not. */
export interface HookVerdict {
  allowed: boolean
  why: string
}

/**
 * Decides about one event of an agent, as its hook gets it on standard input. Agents let an edit pass when their hook
 * fails, so nothing here fails: whatever goes wrong is a no.
 */
export async function hookCheck(
  app: App,
  {
    agent,
    readEvent,
    deadlineMs = checkMs,
  }: { agent: string; readEvent(): Promise<string>; deadlineMs?: number },
): Promise<HookVerdict> {
  const late = Bun.sleep(deadlineMs).then(() => no(`no answer within ${deadlineMs / 1000} seconds`))
  const asked = (async () => {
    try {
      return await decide(app, agentNamed(agent), await readEvent())
    } catch (error) {
      return no(error instanceof Error ? error.message : String(error))
    }
  })()
  return Promise.race([asked, late])
}

async function decide(app: App, { edits }: HookedAgent, text: string): Promise<HookVerdict> {
  const event = recordOf(JSON.parse(text), 'the event')
  const tool = event.tool_name
  if (typeof tool !== 'string') throw new Error('the event names no tool')
  // Only edits are asked about; what else a person's own matcher hands over is not ours to judge.
  if (!Object.hasOwn(edits, tool)) return { allowed: true, why: `${tool} is no edit` }
  const path = recordOf(event.tool_input, 'tool_input')[edits[tool] ?? '']
  if (typeof path !== 'string' || path === '' || path.includes('\0')) throw new Error(`${tool} names no file`)
  const cwd = typeof event.cwd === 'string' ? event.cwd : app.cwd
  const { allowed, why } = await canEdit(app, { path: resolve(app.cwd, cwd, path), task: null, loop: null })
  return { allowed, why: `${path}: ${why}` }
}

function no(why: string): HookVerdict {
  return { allowed: false, why }
}

function agentNamed(name: string): HookedAgent {
  const agent = Object.hasOwn(agents, name) ? agents[name] : undefined
  if (agent) return agent
  const known = Object.keys(agents)
  throw errors.usage(
    `no hook for ${name}`,
    `automaton knows those of ${known.join(', ')}`,
    `automaton hook ${nearest(name, known) ?? known[0]}`,
  )
}

/** A program that is missing, and every other way to fail, ends with the one code that agents take for a no. */
function commandLine(self: readonly string[], agent: string): string {
  return `${self.map(quoted).join(' ')} hook-check ${agent} || exit 2`
}

function quoted(word: string): string {
  return isWindows ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`
}

function recordOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${what} is no object`)
  return { ...value }
}
