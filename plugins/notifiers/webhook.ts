import { definePlugin } from 'automaton'
import * as v from 'valibot'
import { type Notice, notifier, onOption, plainText } from './notice.ts'

const variable = v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable'))

const optionsSchema = v.pipe(
  v.strictObject({
    on: onOption,
    url: v.exactOptional(
      v.pipe(v.string(), v.regex(/^https?:\/\/[^\s]+$/, 'an address that starts with http')),
    ),
    /** The name of a variable with the address, for one that is a secret: `config.json` may be committed. */
    url_variable: v.exactOptional(variable),
    /** The name of a variable with a token, sent as `Authorization: Bearer`. */
    token_variable: v.exactOptional(variable),
    /** Seconds; the tick waits so long at most. */
    timeout: v.optional(v.pipe(v.number(), v.gtValue(0), v.maxValue(4, 'at most 4 seconds')), 4),
  }),
  v.check(
    (options) => (options.url === undefined) !== (options.url_variable === undefined),
    'either url or url_variable',
  ),
)

type Options = v.InferOutput<typeof optionsSchema>

/** Posts a JSON object. Its `text` is what chat services show. */
export default definePlugin({
  name: 'webhook',
  api: 1,
  role: 'hooks',
  options: optionsSchema,
  setup: ({ options }) => ({ hooks: notifier(options.on, (notice) => post(notice, options)) }),
})

async function post(notice: Notice, options: Options): Promise<void> {
  const { event, loop, project, title, text, commands, details } = notice
  const address = options.url ?? variableNamed(options.url_variable)
  const token = options.token_variable === undefined ? null : variableNamed(options.token_variable)
  const body = {
    schema: 1,
    event,
    loop,
    project,
    title,
    reason: text,
    commands,
    details,
    text: plainText(notice),
  }
  const answer = await fetch(address, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
    // The token is for this address and no other.
    redirect: 'error',
    signal: AbortSignal.timeout(options.timeout * 1000),
  }).catch((error: unknown) => {
    throw new Error(`${hostOf(address)} could not be reached: ${reason(error)}`)
  })
  await answer.body?.cancel()
  if (!answer.ok) throw new Error(`${hostOf(address)} answered ${answer.status}`)
}

function variableNamed(name: string | undefined): string {
  const value = name === undefined ? undefined : process.env[name]
  if (!value) throw new Error(`the variable ${name} is not set`)
  return value
}

/** The rest of the address may be a secret. */
function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : 'the address'
}

function reason(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  return name === 'TimeoutError' ? 'no answer in time' : 'the connection failed'
}
