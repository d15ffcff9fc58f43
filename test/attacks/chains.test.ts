import { expect, setDefaultTimeout } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../crash/needs.ts'
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
