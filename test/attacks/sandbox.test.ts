import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findSandbox } from '../../src/system/sandbox/tier.ts'
import { readChain } from '../helpers/invariants.ts'
import { processesWith } from '../helpers/processes.ts'
import type { TestProject } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'
import { tempDir } from '../helpers/temp.ts'
import { haltedLoop, honest, makeTarget, pathWithout, trying } from './kit.ts'

setDefaultTimeout(60_000)

/** What a session tries; `$ROOT` is the person's checkout, `$ID` the halt of another loop. */
const prevented: Record<string, string> = {
  'write loop.json (S10)': 'echo " " >> ../loop.json',
  'write the state (S5)': 'echo " " >> ../.state.loop',
  'write the log (S9)': 'echo x >> ../.state.log',
  'remove run.json (S7)': 'rm ../run.json',
  'remove the folder of the loop (S7)': 'rm -rf ../outputs ../.state.lock; test ! -e ../.state.lock',
  'rename the folder of the loop (S7)': 'mv ../../nightly ../../gone',
  'write another loop’s configuration (S10)': 'echo " " >> ../../other/loop.json',
  'write a task (S10)': 'echo " " >> ../../../tasks/fix-it/TASK.md',
  'write the project’s settings (S10)': 'echo "{}" > ../../../config.json',
  'plant a plugin (S10)': 'mkdir ../../../plugins',
  'plant a prompt in HOME (S10)':
    'mkdir -p "$AUTOMATON_HOME/prompts" && echo x > "$AUTOMATON_HOME/prompts/loop-implement.md"',
  'edit the person’s checkout (S26)': 'echo x >> "$ROOT/README.md"',
  'add a file to the person’s checkout (S26)': 'echo x > "$ROOT/planted"',
  'move the base branch (S13)': 'git update-ref refs/heads/main HEAD~0 && git update-ref -d refs/heads/main',
  'make a branch (S28)': 'git branch mine',
  'replace a commit (S14)':
    'git -c user.name=a -c user.email=a@a replace HEAD $(git -c user.name=a -c user.email=a@a commit-tree HEAD^{tree} -m x)',
  'plant a hook (S29)': 'echo x > "$ROOT/.git/hooks/post-checkout"',
  'set a filter (S29)': 'git config filter.x.clean x',
  'rename refs (S13)': 'mv "$ROOT/.git/refs" "$ROOT/.git/refs2"',
  'remove objects (S13)': 'rm -rf "$ROOT"/.git/objects/*; test -z "$(ls "$ROOT/.git/objects")"',
  'put HEAD on the base branch (S25)': 'git symbolic-ref HEAD refs/heads/main',
  'edit what a shell of the person reads (S26)': 'echo x >> "$HOME/.profile"',
  'approve (S1)': 'env -u AUTOMATON_IN_TICK automaton approve --loop other --halt $ID',
  'approve as an orphan, without markers (S3)':
    '(setsid env -i HOME="$HOME" PATH="$PATH" automaton approve --loop other --halt $ID; echo $? > .automaton-run/code) & wait; exit $(cat .automaton-run/code)',
  'approve from a terminal of its own (S2)':
    'script -qec "env -u AUTOMATON_IN_TICK automaton approve --loop other --halt $ID" /dev/null',
  'read the environment of the tick (S40)': 'grep -az PATH /proc/$TICK/environ',
  'end the tick (S5)': 'kill -9 $TICK',
}

/** What only bubblewrap prevents; with Landlock it is noticed. */
const bwrapOnly: Record<string, string> = {
  'rewrite the worktree’s .git (S24)': 'echo "gitdir: /tmp" > .git',
}

const ways = await Promise.all(
  [
    { kind: 'bwrap', path: process.env.PATH ?? '' },
    { kind: 'landlock', path: '/nonexistent' },
  ].map(async (way) => ({ ...way, found: await findSandbox({ path: way.path, mode: 'auto' }) })),
)

for (const { kind, found } of process.platform === 'linux' ? ways : []) {
  const isThere = found.kind === kind
  describe.if(isThere)(
    `in ${kind}, where a session works without being able to${isThere ? '' : ` (skipped: ${found.why})`}`,
    () => {
      const attempts = kind === 'bwrap' ? { ...prevented, ...bwrapOnly } : prevented
      const bin = tempDir()
      let p: TestProject
      let tries: ReturnType<typeof trying>
      let before: Record<string, string>

      beforeAll(async () => {
        const path = kind === 'bwrap' ? (process.env.PATH ?? '') : pathWithout('bwrap', bin.path)
        p = await makeTarget({ files: { 'README.md': '# x\n', 'src/work.txt': 'x\n' } }, 'required')
        const id = await haltedLoop(p, 'other')
        writeFiles(p.home, {
          '.profile': 'x\n',
          '.ssh/id': 'precious\n',
          '.automaton/config.md': 'version: 0.1.0\n',
        })
        tries = trying(p, attempts)
        p.script({
          'implement-1': [
            // Its own parent is the sandbox; the tick is found by what it writes down.
            `TICK=$(sed -n '/"automaton"/,/}/s/.*"pid": \\([0-9]*\\).*/\\1/p' ../run.json)`,
            '[ -n "$TICK" ] || exit 7',
            `export ROOT='${p.root}' ID=${id} TICK`,
            tries.script,
            `env -i MARK=${p.root} PATH="$PATH" setsid sleep 300 >/dev/null 2>&1 &`,
            `cat "$HOME/.ssh/id" > ${p.scenarioDir}/secret 2>/dev/null`,
            honest.implement ?? '',
          ].join('\n'),
        })
        before = brakes(p)
        const call = await p.call(['tick', p.loop], { env: { PATH: path } })
        if (call.code !== 0) throw new Error(call.stdout + call.stderr)
      })
      afterAll(() => {
        p[Symbol.dispose]()
        bin[Symbol.dispose]()
      })

      for (const name of Object.keys(attempts)) {
        test(name, () => {
          const { code, output } = tries.of(name)
          expect(code, output).not.toBe(0)
          // It was there to be tried.
          expect(output).not.toMatch(/not found|Syntax error/)
        })
      }

      test('leave anything changed but its work (S5, S10, S13, S26)', () => {
        expect(brakes(p)).toEqual(before)
        expect(p.git('status', '--porcelain', '--', ':!.automaton')).toBe('')
        expect(p.git('for-each-ref', '--format=%(refname)').split('\n')).toEqual([
          'refs/heads/automaton/nightly',
          'refs/heads/main',
        ])
        expect(p.git('diff', '--name-only', 'main', 'automaton/nightly')).toBe('src/work.txt')
        expect(p.state()).toMatchObject({ status: 'running', halt: null, iteration_count: 1 })
      })

      test('leave anything running, or read a key (S3, S40)', () => {
        expect(processesWith(`MARK=${p.root}`)).toEqual([])
        expect(readFileSync(join(p.scenarioDir, 'secret'), 'utf8')).toBe('')
        expect(
          readChain({ root: p.root, loop: p.loop, loopDir: p.loopDir, worktree: p.worktree }).problem,
        ).toBeNull()
      })
    },
  )
}

/** The files that nobody but a person changes. */
function brakes(p: TestProject): Record<string, string> {
  const loops = join(p.root, '.automaton', 'loops')
  const names = [
    join(p.loopDir, 'loop.json'),
    join(loops, 'other', 'loop.json'),
    join(loops, 'other', '.state.loop'),
    join(p.root, '.git', 'config'),
    join(p.home, '.profile'),
    join(p.home, '.automaton', 'config.md'),
    join(p.root, '.automaton', 'tasks', 'fix-it', 'TASK.md'),
  ]
  return Object.fromEntries(names.map((name) => [name, readFileSync(name, 'utf8')]))
}
