import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { binary, callEnv } from '../helpers/cli.ts'
import { processesWith } from '../helpers/processes.ts'
import type { TestProject } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'
import { artifact, haltedLoop, honest, makeTarget, storedText } from './kit.ts'

setDefaultTimeout(60_000)

const linux = process.platform === 'linux'
const isRoot = process.getuid?.() === 0
const somebody = ['--reuid=65534', '--regid=65534', '--clear-groups']

/** Runs a command as an ordinary user: root reads everything. The project becomes that user's. */
function asOrdinary(p: TestProject, args: string[], env: Record<string, string>) {
  const base = dirname(p.root)
  const own = join(base, 'automaton')
  copyFileSync(binary, own)
  chmodSync(own, 0o755)
  const agent = join(base, 'agent')
  copyFileSync(join(import.meta.dir, '..', 'fixtures', 'bin', 'scripted-agent'), agent)
  chmodSync(agent, 0o755)
  p.configure({ harness: { command: [agent, p.scenarioDir] } })
  if (isRoot) Bun.spawnSync(['chown', '-R', '65534:65534', base])
  const argv = [...(isRoot ? ['setpriv', ...somebody] : []), own, ...args]
  const run = Bun.spawnSync(argv, {
    cwd: p.root,
    env: callEnv({ cwd: p.root, home: p.home, env }),
    stdin: 'ignore',
  })
  return { code: run.exitCode, output: run.stdout.toString() + run.stderr.toString() }
}

const token = 'tok+en/of ours=42'

/** Strings that look like keys; made up here so that no scanner takes this file for a leak. */
const shaped = [
  `ghp_${'a1B2'.repeat(9)}`,
  `github_pat_${'a1B2'.repeat(8)}`,
  `sk-${'a1B2'.repeat(8)}`,
  `AKIA${'A1B2'.repeat(4)}`,
  `AIza${'a1B2c'.repeat(7)}`,
  `xoxb-${'12345'.repeat(4)}`,
  `glpat-${'a1B2'.repeat(6)}`,
  `eyJ${'a1B2'.repeat(4)}.eyJ${'a1B2'.repeat(4)}.${'a1B2'.repeat(4)}`,
]
const secrets = [token, encodeURIComponent(token), Buffer.from(token).toString('base64'), ...shaped]
const key = `-----BEGIN OPENSSH PRIVATE KEY-----\n${'c2VjcmV0'.repeat(8)}\n-----END OPENSSH PRIVATE KEY-----`
const spoken = [...secrets, key].join('\n')

describe.if(linux)('the secrets of whoever started the tick', () => {
  test('are neither in a session’s environment nor to be had from its parent (S40)', async () => {
    using p = await makeTarget()
    const note = join(p.scenarioDir, 'note')
    const reads = ['environ', 'mem', 'maps', 'fd', 'cwd', 'exe', 'task', 'auxv'].map(
      (name) =>
        `{ cat /proc/$PPID/${name} || ls /proc/$PPID/${name}/; } >> ${note}.${name} 2>/dev/null; echo "${name} $?" >> ${note}`,
    )
    const script = [
      ...reads,
      `env > ${note}.env`,
      `ps eww -A > ${note}.ps 2>&1`,
      'ulimit -c unlimited',
      artifact,
    ]
    p.script({ implement: script.join('\n') })
    const run = asOrdinary(p, ['tick', p.loop], {
      DEPLOY_TOKEN: token,
      AWS_SECRET_ACCESS_KEY: token,
      SSH_AUTH_SOCK: '/x',
      DBUS_SESSION_BUS_ADDRESS: 'x',
      DISPLAY: ':0',
    })
    expect(run.code, run.output).toBe(0)
    const codes = Object.fromEntries(
      readFileSync(note, 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split(' ')),
    )
    expect(codes.environ).not.toBe('0')
    expect(codes.mem).not.toBe('0')
    expect(codes.fd).not.toBe('0')
    for (const name of readdirSync(p.scenarioDir).filter((file) => file.startsWith('note'))) {
      expect(readFileSync(join(p.scenarioDir, name), 'latin1')).not.toContain(token)
    }
    const env = readFileSync(`${note}.env`, 'utf8')
    expect(env).not.toMatch(/^(DEPLOY_TOKEN|AWS_|SSH_AUTH_SOCK|DBUS_|DISPLAY)/m)
  })

  test('are hidden in everything that is stored, whoever says them and however they are written (S41)', async () => {
    const say = `cat '$F'`
    using p = await makeTarget({
      loop: { harness: { env: ['OUR_TOKEN'] } },
      files: { 'src/work.txt': 'x\n' },
    })
    const file = join(p.scenarioDir, 'spoken')
    writeFileSync(file, spoken)
    const speak = say.replace('$F', file)
    const json = (value: object) => JSON.stringify(value).replaceAll("'", '')
    p.script({
      'implement-1': `env; ${speak}; ${speak} >&2; { echo report; ${speak}; } > "$AUTOMATON_OUTPUT"; ${speak} > "$AUTOMATON_COST_FILE"; echo x >> src/work.txt`,
      'verify-1': `printf '%s' '${json({ pass: true, score: 1, reasons: secrets, next_hint: spoken })}'; printf '${token}' > "$AUTOMATON_COST_FILE"`,
      'orchestrate-1': `${speak} > "$AUTOMATON_COST_FILE"; automaton hold; printf '%s' '${json({ action: 'escalate', reason: secrets.join(' ') })}' > "$AUTOMATON_INTENT"`,
    })
    const env = { OUR_TOKEN: token }
    const call = await p.call(['tick', p.loop], { env })
    expect(call.code).toBe(4)
    await p.call(['approve', '--task', 'fix-it'], { env })
    await p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id], { env })
    p.script({ 'implement-2': `${speak} >&2; echo "${token}" >&2; exit 3` })
    const failed = await p.call(['tick', p.loop], { env })
    expect(failed.code).toBe(5)
    p.configure({
      verifiers: [{ use: 'command', options: { commands: ['sh', '-c', `cat '${file}'; exit 1`] } }],
    })
    p.script({
      'implement-3': `echo y >> src/work.txt; ${artifact}`,
      'orchestrate-2': `echo '${json({ action: token })}' > "$AUTOMATON_INTENT"`,
    })
    expect((await p.call(['tick', p.loop], { env })).code).toBe(0)
    const stored = storedText(join(p.root, '.automaton')) + storedText(p.home)
    const shown = call.stdout + call.stderr + failed.stdout + failed.stderr
    for (const secret of [...secrets, 'c2VjcmV0'.repeat(8)]) {
      const at = stored.indexOf(secret)
      expect(at === -1 ? '' : stored.slice(at - 300, at + 100)).toBe('')
      expect(shown).not.toContain(secret)
    }
    expect(stored).toContain('[masked:OUR_TOKEN]')
    expect(stored).toContain('[masked:github-token]')
  })
})

describe('files that automaton makes', () => {
  test('are the user’s alone, whatever the umask is (S42)', async () => {
    const before = process.umask(0)
    try {
      using p = await makeTarget({ loop: { brakes: { max_iterations: 1 } } })
      expect((await p.tick()).code).toBe(4)
      await p.call(['approve', '--loop', p.loop, '--halt', p.state().halt.id])
      await p.call(['pause-loop', p.loop])
      const loose = modes(join(p.root, '.automaton')).filter(
        ({ path, mode }) => (mode & 0o077) !== 0 && !isPersons(p, path),
      )
      expect(loose.map(({ path, mode }) => `${path} ${(mode & 0o777).toString(8)}`)).toEqual([])
    } finally {
      process.umask(before)
    }
  })

  test.if(isRoot)('another user can neither read nor change them (S42)', async () => {
    using p = await makeTarget()
    await p.tick()
    chmodSync(dirname(p.root), 0o755)
    for (const line of [
      `cat ${p.loopDir}/.state.loop`,
      `cat ${p.loopDir}/outputs/tick1-implement-prompt.md`,
      `ls ${p.loopDir}`,
      `ln -s /etc/passwd ${p.loopDir}/outputs/tick2-implement.log`,
      `echo x >> ${p.loopDir}/loop.json`,
      `mkdir ${p.root}/.automaton/plugins`,
      `cat ${p.root}/.automaton/tasks/fix-it/TASK.md`,
    ]) {
      const run = Bun.spawnSync(['setpriv', ...somebody, 'sh', '-c', line], { stderr: 'ignore' })
      expect(run.exitCode, line).not.toBe(0)
    }
  })

  test('are written through no link that somebody planted at their place (S42)', async () => {
    using p = await makeTarget()
    await p.tick()
    const victim = join(p.home, 'victim')
    const folder = join(p.home, 'folder')
    writeFileSync(victim, 'precious\n')
    writeFiles(folder, { 'implement.md': 'precious\n', '.gitignore': 'precious\n' })
    const planted = [
      'outputs/tick2-implement.log',
      'outputs/tick2-implement-prompt.md',
      'outputs/tick2-verify.md',
      'outputs/tick2-verdict.json',
      'run.json',
      '.state.lock',
      '.pause-request',
      '.state.log.torn',
    ]
    for (const name of planted) {
      rmSync(join(p.loopDir, name), { force: true })
      symlinkSync(victim, join(p.loopDir, name))
    }
    rmSync(join(p.worktree, '.automaton-run'), { recursive: true, force: true })
    symlinkSync(folder, join(p.worktree, '.automaton-run'))
    for (let ticks = 0; ticks < 3; ticks++) {
      const call = await p.tick()
      expect([0, 3, 4, 5, 6]).toContain(call.code ?? 1)
      if (ticks === 0) rmSync(join(p.loopDir, '.state.lock'), { force: true })
      if (ticks === 1) rmSync(join(p.loopDir, 'outputs', 'tick2-implement.log'), { force: true })
    }
    expect(readFileSync(victim, 'utf8')).toBe('precious\n')
    expect(readdirSync(folder).sort()).toEqual(['.gitignore', 'implement.md'])
    expect(readFileSync(join(folder, 'implement.md'), 'utf8')).toBe('precious\n')
    expect(p.state().iteration_count).toBeGreaterThan(0)
  })
})

describe('papers that are no papers', () => {
  const cases: [name: string, make: string][] = [
    ['a link to a secret', 'ln -sf "$HOME/.ssh/id" "$AUTOMATON_OUTPUT"'],
    ['a pipe that nobody writes to', 'rm -f "$AUTOMATON_OUTPUT"; mkfifo "$AUTOMATON_OUTPUT"'],
    ['a folder', 'mkdir -p "$AUTOMATON_OUTPUT"'],
    ['endless', 'truncate -s 3G "$AUTOMATON_OUTPUT"'],
    ['a folder of papers that is a link', 'rm -r .automaton-run; ln -s "$HOME/.ssh" .automaton-run'],
  ]
  for (const [name, make] of cases) {
    test(`${name}: nothing is read from it, and the tick ends in order (S20, S42)`, async () => {
      using p = await makeTarget({ scenario: { implement: `echo x >> src/work.txt; ${make}; echo said` } })
      writeFiles(p.home, { '.ssh/id': 'precious\n', '.ssh/implement.md': 'precious\n' })
      const call = await p.tick()
      expect(call.code).not.toBe(1)
      expect(call.code).not.toBeNull()
      expect(storedText(p.loopDir)).not.toContain('precious')
      expect(existsSync(join(p.home, '.ssh', 'id'))).toBe(true)
    })
  }
})

test.if(linux)(
  'a crowd of processes and a heap of files end with the session that made them (S46)',
  async () => {
    const script = [
      'for i in $(seq 150); do setsid sleep 300 & sleep 300 & done',
      '(trap "" TERM HUP INT; setsid sh -c "trap \\"\\" TERM; while :; do sleep 1; done") &',
      'mkdir src/heap; for i in $(seq 2000); do : > src/heap/$i; done',
    ]
    using p = await makeTarget({ scenario: { implement: `${script.join('\n')}\n${honest.implement}` } })
    const call = await p.tick()
    expect(call.code).toBe(0)
    const run = p.log().at(-1)?.run
    expect(run).toBeString()
    expect(processesWith(`AUTOMATON_RUN_ID=${run}`)).toEqual([])
  },
  60_000,
)

test('a loop that requires a sandbox never runs a session without one (S44)', async () => {
  using p = await makeTarget({}, 'required')
  p.script({ implement: `touch "${p.scenarioDir}/ran"; : > "${p.root}/outside"\n${honest.implement}` })
  const call = await p.tick()
  // Whether this machine has one or not: either nothing ran, or it ran locked in.
  expect(call.code === 5 && (call.stdout + call.stderr).includes('sandbox') ? 'refused' : 'locked in').toBe(
    existsSync(join(p.scenarioDir, 'ran')) ? 'locked in' : 'refused',
  )
  expect(existsSync(join(p.root, 'outside'))).toBe(false)
})

test('another loop of the project is as it was after a session that had every chance (S5)', async () => {
  using p = await makeTarget()
  await haltedLoop(p, 'other')
  p.script({ implement: `sed -i 's/"halted"/"running"/' ../../other/.state.loop\n${artifact}` })
  await p.tick()
  expect((await p.call(['tick', 'other'])).code).toBe(6)
})

function modes(folder: string): { path: string; mode: number }[] {
  const { mode } = lstatSync(folder)
  return [
    { path: folder, mode },
    ...readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? modes(path) : [{ path, mode: lstatSync(path).mode }]
    }),
  ]
}

/** The files of the worktree have the modes that git and people give them; the folder above it lets nobody in. */
function isPersons(p: TestProject, path: string): boolean {
  return path === p.worktree || path.startsWith(`${p.worktree}/`)
}
