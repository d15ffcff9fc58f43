import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { goodAgent, makeProject, must, type TestProject } from '../helpers/project.ts'

const notify = (p: TestProject, list: object[]) =>
  writeFileSync(join(p.root, '.automaton', 'config.json'), JSON.stringify({ notify: list }))
const oneTick = { loop: { brakes: { max_iterations: 1 } } }

/** A loopback server that keeps what is posted to it. */
function listener(answer: () => Response | Promise<Response>) {
  const posts: { body: Record<string, unknown>; authorization: string | null }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      posts.push({
        body: (await request.json()) as Record<string, unknown>,
        authorization: request.headers.get('authorization'),
      })
      return answer()
    },
  })
  return {
    posts,
    url: `http://127.0.0.1:${server.port}/hook`,
    [Symbol.dispose]: () => void server.stop(true),
  }
}

test('a halt is posted to a webhook, with the reason and the exact command to type', async () => {
  using hook = listener(() => new Response('ok'))
  using p = await makeProject(oneTick)
  notify(p, [{ use: 'webhook', options: { url_variable: 'HOOK_URL', token_variable: 'HOOK_TOKEN' } }])
  const call = await p.call(['tick', p.loop], { env: { HOOK_URL: hook.url, HOOK_TOKEN: 'secret-token-1' } })
  expect(call.code).toBe(4)
  const { id } = p.state().halt
  expect(hook.posts).toHaveLength(1)
  expect(hook.posts[0]?.authorization).toBe('Bearer secret-token-1')
  expect(hook.posts[0]?.body).toMatchObject({
    schema: 1,
    event: 'halt',
    loop: 'nightly',
    project: p.root,
    reason: 'iterations_exhausted: 1 of 1 iterations used',
    commands: [
      `automaton status nightly --project ${p.root}`,
      `automaton approve --loop nightly --halt ${id} --project ${p.root}`,
    ],
  })
  expect(hook.posts[0]?.body.text).toContain(`automaton approve --loop nightly --halt ${id}`)
  // The command is one that works.
  await must(p.call(['approve', '--loop', 'nightly', '--halt', id, '--project', p.root]))
})

test('a finished task is told to a program on its standard input, and shown on the desktop', async () => {
  using p = await makeProject({ loop: { roles: { orchestrate: { mode: 'rules' } } } })
  const bin = join(p.scenarioDir, 'bin')
  const heard = join(p.scenarioDir, 'heard.json')
  const shown = join(p.scenarioDir, 'shown.txt')
  mkdirSync(bin)
  writeFileSync(join(bin, 'tell-me'), `#!/bin/sh\ncat > "$1"\n`, { mode: 0o755 })
  writeFileSync(join(bin, 'notify-send'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${shown}'\n`, { mode: 0o755 })
  notify(p, [
    { use: 'command', options: { command: ['tell-me', heard], on: ['complete'] } },
    { use: 'desktop' },
  ])
  const env = { PATH: `${bin}:${process.env.PATH ?? ''}` }
  for (let i = 0; i < 5; i++) await must(p.call(['tick', p.loop], { env }))
  const said = JSON.parse(readFileSync(heard, 'utf8'))
  expect(said).toMatchObject({
    event: 'complete',
    reason: 'fix-it',
    commands: [`git -C ${p.root} merge automaton/nightly`],
  })
  if (process.platform === 'linux') {
    expect(readFileSync(shown, 'utf8')).toContain('automaton: loop nightly finished a task\nfix-it\n')
  }
})

test('a halt that the gate finds is told as well', async () => {
  using hook = listener(() => new Response('ok'))
  using p = await makeProject()
  await must(p.tick())
  notify(p, [{ use: 'webhook', options: { url: hook.url } }])
  writeFileSync(join(p.worktree, '.npmrc'), 'x\n')
  expect((await p.call(['check-gate', p.loop])).code).toBe(3)
  expect(hook.posts[0]?.body).toMatchObject({ event: 'halt', reason: 'drift_detected: 1 file out of scope' })
})

test('a halt that cleaning up after a dead tick ends in is told as well', async () => {
  using hook = listener(() => new Response('ok'))
  using p = await makeProject({
    loop: { brakes: { max_consecutive_errors: 1 } },
    scenario: { implement: 'kill -9 $PPID; sleep 30' },
  })
  notify(p, [{ use: 'webhook', options: { url: hook.url } }])
  await p.tick()
  expect((await p.tick()).code).toBe(4)
  expect(hook.posts[0]?.body).toMatchObject({ event: 'halt', reason: 'human_intervention: repeated_crash' })
})

test('a notifier that fails, hangs, or does not exist changes nothing', async () => {
  using slow = listener(() => new Promise<Response>(() => {}))
  using angry = listener(() => new Response('no', { status: 500 }))
  using p = await makeProject({ ...oneTick, scenario: goodAgent })
  notify(p, [
    { use: 'webhook', options: { url: angry.url } },
    { use: 'webhook', options: { url: slow.url, timeout: 0.2 } },
    { use: 'webhook', options: { url: 'ftp://x' } },
    { use: 'command', options: { command: ['no-such-program'] } },
    { use: 'pigeon' },
  ])
  const call = await p.tick()
  expect(call.code).toBe(4)
  expect(p.state()).toMatchObject({ iteration_count: 1, halt: { reason: 'iterations_exhausted' } })
  expect(existsSync(join(p.loopDir, 'run.json'))).toBe(false)
  expect([angry.posts.length, slow.posts.length]).toEqual([1, 1])
  expect(call.stderr).toContain('answered 500')
  expect(call.stderr).toContain('could not be reached: no answer in time')
  expect(call.stderr).toContain('notifier pigeon: unknown hooks (pigeon)')
  expect(call.stderr).toContain('notifier webhook: plugin "webhook" failed in options')
  expect(call.stderr).not.toContain('/hook')
})

test('a notifier runs nothing that lies in the project', async () => {
  using p = await makeProject(oneTick)
  const planted = join(p.root, 'planted.sh')
  writeFileSync(planted, `#!/bin/sh\ntouch '${join(p.scenarioDir, 'ran')}'\n`, { mode: 0o755 })
  notify(p, [
    { use: 'command', options: { command: [planted] } },
    { use: 'command', options: { command: ['./planted.sh'] } },
    { use: 'command', options: { command: ['sh', planted] } },
    { use: 'command', options: { command: ['sh', 'planted.sh'] } },
    { use: 'command', options: { command: ['planted.sh'] } },
  ])
  const call = await p.call(['tick', p.loop], { env: { PATH: `.:${process.env.PATH ?? ''}` } })
  expect(call.code).toBe(4)
  expect(call.stderr).toContain('lies in the project')
  expect(call.stderr).toContain('a program on PATH, or an absolute path')
  expect(existsSync(join(p.scenarioDir, 'ran'))).toBe(false)
})
