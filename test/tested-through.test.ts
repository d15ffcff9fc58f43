import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

const root = join(import.meta.dir, '..')

/**
 * Files that are parts of something and are tested with it: by test, what it tests besides what it is named for. The
 * audit asks for a test that names each source; whoever adds a file either gives it one or says here where it is tested.
 */
const testedThrough: Record<string, string[]> = {
  'test/attacks/between-looks.test.ts': ['src/runner/last-look.ts'],
  'test/attacks/sandbox-writes.test.ts': [
    'src/runner/holes.ts',
    'src/system/sandbox/notes.ts',
    'src/system/sandbox/writes.ts',
  ],
  'test/attacks/neighbours.test.ts': ['src/runner/footing.ts'],
  'test/attacks/repository.test.ts': ['src/system/base-log.ts', 'src/system/side-folders.ts'],
  'test/attacks/surroundings.test.ts': ['src/runner/distrust.ts'],
  'test/cli/binary.test.ts': ['src/cli/tty.ts'],
  'test/commands/approve.test.ts': ['src/commands/approval-question.ts', 'src/commands/approve-task.ts'],
  'test/commands/look.test.ts': ['src/commands/look-around.ts', 'src/store/audit-facts.ts'],
  'test/commands/loops.test.ts': ['src/commands/known-task.ts'],
  'test/crash/verbs.test.ts': ['src/runner/begun-sync.ts'],
  'test/crash/deaths.test.ts': [
    'src/runner/abandon.ts',
    'src/runner/give-up.ts',
    'src/runner/lost-time.ts',
    'src/runner/recover.ts',
    'src/runner/run-kept.ts',
    'src/runner/search-record.ts',
    'src/system/own-commits.ts',
  ],
  'test/e2e/agent-errors.test.ts': ['src/runner/over-budget.ts', 'src/runner/session-failed.ts'],
  'test/e2e/context.test.ts': [
    'src/commands/loop-context.ts',
    'src/commands/memory-findings.ts',
    'src/commands/memory-words.ts',
  ],
  'test/e2e/daemon-many.test.ts': [
    'src/commands/daemon-check.ts',
    'src/runner/sight.ts',
    'src/store/daemon-status.ts',
  ],
  'test/e2e/demo.test.ts': ['src/commands/commit-all.ts', 'src/commands/demo-files.ts'],
  'test/e2e/drift.test.ts': ['src/runner/brakewire.ts', 'src/runner/discard.ts'],
  'test/e2e/fresh-install.test.ts': ['src/commands/install-loop.ts', 'src/store/scheduled-log.ts'],
  'test/e2e/inside.test.ts': ['src/cli/verbs/in-tick.ts'],
  'test/e2e/install.test.ts': ['src/commands/install-home.ts', 'src/commands/install-program.ts'],
  'test/e2e/moved.test.ts': ['src/runner/strayed.ts', 'src/system/strayed.ts'],
  'test/e2e/plugins.test.ts': [
    'src/assets/plugin-templates.ts',
    'src/commands/plugins-check.ts',
    'src/commands/plugins-file.ts',
    'src/commands/plugins-new.ts',
    'src/commands/plugins-trust.ts',
    'src/plugin/loader.ts',
    'src/system/plugin-channel.ts',
  ],
  'test/e2e/schedule.test.ts': [
    'src/commands/doctor-as-scheduler.ts',
    'src/commands/doctor-schedule.ts',
    'src/commands/schedule-files.ts',
    'src/runner/schedule-record.ts',
    'src/runner/script-env.ts',
    'src/runner/tick-script.ts',
    'src/runner/unit-check.ts',
  ],
  'test/e2e/self-check.test.ts': ['src/commands/self-check/bench.ts'],
  'test/e2e/sources.test.ts': [
    'plugins/sources/command-records.ts',
    'src/runner/laid-base.ts',
    'src/runner/source-tools.ts',
  ],
  'test/e2e/tick-log.test.ts': ['src/commands/tick-diff.ts'],
  'test/e2e/tick.test.ts': [
    'src/runner/journalist.ts',
    'src/runner/ledger.ts',
    'src/runner/steps/find-work.ts',
    'src/runner/steps/site.ts',
  ],
  'test/e2e/told.test.ts': [
    'src/commands/halt-words.ts',
    'src/commands/loop-facts.ts',
    'src/commands/next-commands.ts',
    'src/commands/spent-words.ts',
    'src/runner/unmerged.ts',
  ],
  'test/e2e/uninstall.test.ts': ['src/commands/call-program.ts'],
  'test/plugin/remote.test.ts': [
    'src/plugin/child-plugin.ts',
    'src/plugin/definition.ts',
    'src/plugin/lender.ts',
    'src/plugin/remote-reader.ts',
  ],
  'test/plugins/harnesses.test.ts': ['plugins/harnesses/opencode-reader.ts'],
  'test/plugins/sources.test.ts': ['plugins/sources/backlog-items.ts'],
  'test/plugins/verifiers.test.ts': ['plugins/verifiers/command-options.ts'],
  'test/release/parts.test.ts': ['release/mach-o.ts'],
  'test/runner/scheduler-tools.test.ts': ['src/runner/deps.ts'],
  'test/store/layout.test.ts': ['src/system/real-path.ts'],
  'test/store/lock.test.ts': ['src/system/windows/sole.ts'],
  'test/system/exec-end.test.ts': [
    'src/system/alarm.ts',
    'src/system/launch.ts',
    'src/system/session-log.ts',
  ],
  'test/system/exec.test.ts': ['src/system/capture.ts'],
  'test/system/git.test.ts': ['src/system/git-config.ts', 'src/system/small-file.ts'],
  'test/system/native.test.ts': ['src/system/windows/job.ts', 'src/system/windows/kernel32.ts'],
  'test/system/open-up.test.ts': ['src/system/passing.ts'],
  'test/system/snapshot.test.ts': ['src/system/checkout-index.ts', 'src/system/holders.ts'],
  'test/system/vram/probes.test.ts': ['src/system/vram/windows-adapters.ts'],
  'test/system/vram/servers.test.ts': [
    'src/system/vram/servers/fetch-json.ts',
    'src/system/vram/servers/llama-cpp.ts',
  ],
  'test/system/tripwire.test.ts': ['src/system/digest.ts', 'src/system/session-commits.ts'],
}

const rows = Object.entries(testedThrough).flatMap(([name, sources]) =>
  sources.map((source) => [source, name]),
)

test('a file that is tested with others is there, and its test reaches it', () => {
  const missing = rows.flat().filter((path) => !existsSync(join(root, path)))
  expect(missing).toEqual([])
  const unreached = rows.filter(([source = '', name = '']) => !reaches(name, source))
  expect(unreached).toEqual([])
})

/** Whether a test imports a source, itself or through others; who drives the built binary reaches all that is in it. */
function reaches(name: string, source: string): boolean {
  const found = reachable(name)
  return found.has(source) || (found.has('test/helpers/cli.ts') && reachable('src/main.ts').has(source))
}

function reachable(start: string): Set<string> {
  const found = new Set([start])
  for (const path of found) for (const next of importsOf(path)) found.add(next)
  return found
}

const known = new Map<string, string[]>()

function importsOf(path: string): string[] {
  const found = known.get(path) ?? readImports(path)
  known.set(path, found)
  return found
}

function readImports(path: string): string[] {
  const text = readFileSync(join(root, path), 'utf8')
  return [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'(\.[^']+\.ts)'/g)]
    .map(([, name = '']) => posix.join(posix.dirname(path), name))
    .filter((target) => existsSync(join(root, target)))
}
