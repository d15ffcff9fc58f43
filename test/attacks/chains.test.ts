import { expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, copyFileSync, existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../crash/needs.ts'
import { handOver, noTwoUsers } from '../helpers/ordinary.ts'
import { honest, makeTarget } from './kit.ts'

setDefaultTimeout(60_000)

/**
 * Processes that each leave the session, hand on to a child and end, with an empty environment: none lives for a
 * millisecond. They lift a cap once `when` is there. By themselves they end after 20 seconds.
 */
const chain = `use POSIX; my ($when, $file, $beat) = @ARGV; my ($end, $n) = (time + 20, 0);
exit 0 if fork;
while (time < $end) {
  POSIX::_exit(0) if fork; POSIX::setsid();
  if (++$n % 20 == 0) { open B, ">", $beat; print B $n; close B }
  next unless -e $when;
  local $/; open F, $file; $_ = <F>; close F; s/("max_iterations": )[0-9]+/\${1}999/;
  open F, ">", $file; print F $_; close F; last }
`

needs('perl')(
  'processes that start one another faster than anybody looks end with their session, and lift no cap (S10)',
  async () => {
    const start = `env -i perl -e '${chain}' "$AUTOMATON_HOME.go" "$PWD/../loop.json" "$AUTOMATON_HOME.beat"`
    using p = await makeTarget({
      scenario: {
        implement: `${start}\n${start}\n${start}\nuntil test -e "$AUTOMATON_HOME.beat"; do sleep 0.01; done\n${honest.implement}`,
        verify: `touch "$AUTOMATON_HOME.go"; sleep 0.3\n${honest.verify}`,
      },
    })
    const call = await p.tick()
    const beat = join(p.home, '.automaton.beat')
    expect(existsSync(beat)).toBe(true)
    expect(call.code).toBe(0)
    expect(readFileSync(join(p.loopDir, 'loop.json'), 'utf8')).not.toContain('999')
  },
  60_000,
)

const reason = noTwoUsers() ?? (Bun.which('perl') ? null : 'no perl')

test.skipIf(reason !== null)(
  `what a session started and nobody can end halts the loop, and nothing is committed${reason ? ` (skipped: ${reason})` : ''}`,
  async () => {
    using p = await makeTarget()
    const call = handOver(p)
    // The program of another user, as sudo would start it.
    const perl = join(p.root, '..', 'perl')
    copyFileSync(realpathSync(Bun.which('perl') ?? ''), perl)
    chmodSync(perl, 0o4755)
    const pidFile = join(p.root, '..', 'pid')
    const code = '$< = 0; open F, ">", $ARGV[0]; print F $$; close F; sleep 30'
    const start = `setsid '${perl}' -U -e '${code}' '${pidFile}' >/dev/null 2>&1 &`
    p.script({
      implement: `${start}\nuntil test -s '${pidFile}'; do sleep 0.01; done\n${honest.implement}`,
    })
    const before = p.git('-c', `safe.directory=*`, 'rev-parse', 'main')
    const done = await call('tick', p.loop)
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL')
    expect(done.code).toBe(5)
    expect(done.stderr).toContain('what a session started cannot be ended (nightly)')
    expect(p.state()).toMatchObject({
      status: 'halted',
      iteration_count: 0,
      halt: { reason: 'human_intervention', detail: 'session_lives' },
    })
    expect(p.git('-c', 'safe.directory=*', 'rev-parse', 'automaton/nightly')).toBe(before)
    expect((await call('tick', p.loop)).code).toBe(3)
  },
)
