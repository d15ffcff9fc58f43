import { definePlugin, type SessionCommand, type SessionRequest } from 'automaton'
import * as v from 'valibot'

/** The tokens of `harness.command` (contract, section 6.2). */
const names = [
  'task_brief',
  'acceptance_criteria',
  'next_hint',
  'current_task',
  'current_phase',
  'verdict',
  'artifact_content',
  'diff',
  'phase_guide',
  'output',
  'cwd',
  'model',
  'prompt',
  'prompt_content',
  'artifact',
]
const tokens = new RegExp(`\\{(${names.join('|')})\\}`, 'g')

/** Linux takes 131,071 bytes in one argument, Windows 32,767 characters in the whole line; both less some room. */
const longestBytes = 120_000
const longestOnWindows = 30_000

/** Runs the program that `harness.command` names, as it is. Its final message is its standard output. */
export default definePlugin({
  name: 'command',
  api: 1,
  role: 'harness',
  options: v.strictObject({
    command: v.pipe(
      v.tupleWithRest([v.pipe(v.string(), v.nonEmpty('a program is expected first'))], v.string()),
    ),
  }),
  setup: ({ options: { command } }) => ({
    harness: {
      programs: command.slice(0, 1),
      command: (request) => fill(command, request),
      reader: () => ({
        line() {},
        end: ({ exitCode, stdout }) => ({
          finalMessage: stdout.trim() === '' ? null : stdout,
          sessionId: null,
          usage: { usd: null, tokens: null },
          finished: exitCode === 0,
          error: null,
        }),
      }),
    },
  }),
})

function fill(command: readonly string[], request: SessionRequest): SessionCommand {
  const { model, prompt, promptFile, cwd, output } = request
  const values = new Map(Object.entries(request.tokens))
  values.set('cwd', cwd).set('output', output).set('prompt', promptFile).set('prompt_content', prompt)
  if (model === null) values.delete('model')
  else values.set('model', model)
  const notes: string[] = []
  const replace = (argument: string) =>
    argument.replace(tokens, (braces, name: string) => values.get(name) ?? (name === 'model' ? braces : ''))
  const argv = command.map((argument, index) => {
    const text = replace(argument)
    if (model === null && argument.includes('{model}')) notes.push('{model} stays as it is: no model is set')
    if (!isTooLong(text, promptFile)) return text
    values.set('prompt_content', `Read and follow the instructions in ${promptFile}`)
    const short = replace(argument)
    if (isTooLong(short, promptFile))
      throw new Error(`argument ${index} is too long for the system; use {prompt}`)
    notes.push('the prompt is too long for an argument: the agent is told to read it from its file')
    return short
  })
  return { argv, notes: [...new Set(notes)] }
}

function isTooLong(text: string, promptFile: string): boolean {
  const isWindows = /^[A-Za-z]:[\\/]|^\\\\/.test(promptFile)
  return isWindows ? text.length > longestOnWindows : Buffer.byteLength(text) > longestBytes
}
