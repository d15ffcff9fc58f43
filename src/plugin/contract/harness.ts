import { type Check, ensure, ensureSame, type Subject } from './check.ts'
import { sessionEnd, sessionRequest } from './fakes.ts'

/** A harness under check. */
export interface HarnessSubject extends Subject {
  /** Standard output of a good run, whose final message is `Done.`; absent: what needs one is not checked. */
  goodRun?: string | undefined
}

const longestArgument = 131_072
const oddLines = [
  '',
  '{',
  '{"type":5}',
  '{"type":"error"}',
  'null',
  '{"type":"text","part":null}',
  '\u001b[31m',
  '\0',
]

/** What every harness must do, whatever it drives. */
export function harnessChecks({ host, name, options, goodRun }: HarnessSubject): Check[] {
  const harness = () => host.harness(name, options)
  const command = async (change: Parameters<typeof sessionRequest>[0]) =>
    (await harness()).command(sessionRequest(change))
  const read = async (stdout: string, exitCode: number | null) => {
    const reader = (await harness()).reader()
    for (const line of stdout.split('\n')) reader.line(line)
    return reader.end(sessionEnd({ exitCode, stdout }))
  }
  const { promptFile } = sessionRequest()
  const always: Check[] = [
    {
      name: 'starts a program that it says it needs',
      async run() {
        const [program = ''] = (await command({})).argv
        const { programs } = await harness()
        ensure(
          programs.includes(program),
          `it starts ${program}, and its programs are ${programs.join(', ')}`,
        )
      },
    },
    {
      name: 'hands over the prompt unchanged, whatever is in it',
      async run() {
        const prompt = 'a "b" $(c) `d` \\ % ! {diff} \n-- \u{1d11e}'
        const { argv, stdin = '' } = await command({ prompt })
        const handed = [stdin, ...argv].some((text) => text === prompt || text.includes(promptFile))
        ensure(handed, 'neither an argument nor stdin is the prompt, and no argument names its file')
      },
    },
    {
      name: 'hands over a prompt of 5 MB without an argument that the system refuses',
      async run() {
        const prompt = 'x'.repeat(5_000_000)
        const { argv, stdin } = await command({ prompt })
        const long = argv.find((argument) => Buffer.byteLength(argument) >= longestArgument)
        ensure(long === undefined, `an argument has ${long?.length} characters`)
        const handed = stdin?.includes(prompt) || argv.some((text) => text.includes(promptFile))
        ensure(handed === true, 'stdin is not the prompt, and no argument names its file')
      },
    },
    {
      name: 'hands over a model id as it is',
      async run() {
        const model = 'some/odd:model $x'
        const { argv, env = {} } = await command({ model })
        const handed = [...argv, ...Object.values(env)].some((text) => text.includes(model))
        ensure(handed, 'no argument and no variable holds it')
      },
    },
    {
      name: 'takes a run that says nothing and fails for one that is not finished',
      async run() {
        const { finalMessage, finished } = await read('', 1)
        ensureSame({ finalMessage, finished }, { finalMessage: null, finished: false }, 'it reports')
        ensure(!(await read('', null)).finished, 'it takes a killed run for a finished one')
      },
    },
    {
      name: 'survives any line',
      async run() {
        for (const line of oddLines) await read(`${line}\n${goodRun ?? ''}`, 1)
      },
    },
    {
      name: 'keeps two readers apart',
      async run() {
        await read(goodRun ?? 'Done.', 0)
        ensureSame((await read('', 1)).finalMessage, null, 'the second reader says')
      },
    },
  ]
  if (goodRun === undefined) return always
  const good: Check = {
    name: 'takes a good run for finished and has its final message',
    async run() {
      const { finalMessage, finished, error } = await read(goodRun, 0)
      ensure(finished, 'it is not finished')
      ensureSame(finalMessage?.trimEnd(), 'Done.', 'its final message is')
      ensureSame(error, null, 'its error is')
    },
  }
  return [...always, good]
}
