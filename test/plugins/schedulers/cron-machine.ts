import type { RunResult } from '../../../src/api/context.ts'
import type { SchedulerContext } from '../../../src/api/scheduler.ts'
import { runResult, schedulerContext } from '../../../src/plugin/contract/fakes.ts'

/** What a pretended crontab does instead of its work. */
export interface CronFaults {
  /** Answers `crontab -l`; null: as it should. `count` is how often it was asked before. */
  list?(table: string | null, count: number): Partial<RunResult> | null
  /** What is kept of a new table; default: all of it. */
  keep?(table: string, count: number): string | null
  /** How `crontab -` and `crontab -r` end. */
  install?: Partial<RunResult>
  pgrep?: number
}

/** A machine whose crontab is a string of bytes. */
export interface CronMachine {
  context: SchedulerContext
  /** null: the user has none. */
  table: string | null
  files: Map<string, string>
  /** What was run, arguments alone. */
  calls: string[]
}

/** A machine with this table, each character one byte. */
export function cronMachine(table: string | null = null, faults: CronFaults = {}): CronMachine {
  const files = new Map<string, string>()
  const counts = { list: 0, keep: 0 }
  const machine: CronMachine = { context: schedulerContext(), table, files, calls: [] }
  machine.context = schedulerContext({
    async run(argv, { stdin } = {}) {
      machine.calls.push(argv.join(' '))
      if (argv[0] === 'pgrep') return runResult({ exitCode: faults.pgrep ?? 0 })
      if (argv[1] === '-l') {
        const wrong = faults.list?.(machine.table, counts.list++)
        if (wrong) return runResult(wrong)
        if (machine.table !== null) return runResult({ output: machine.table, stdout: machine.table })
        return runResult({ exitCode: 1, output: 'no crontab for pat\n' })
      }
      const next = argv[1] === '-r' ? null : Buffer.from(stdin ?? '').toString('latin1')
      machine.table = next !== null && faults.keep ? faults.keep(next, counts.keep++) : next
      return runResult(faults.install)
    },
    readFile: async (path) => files.get(path) ?? null,
    writeFile: async (path, data) => void files.set(path, Buffer.from(data).toString('latin1')),
    removeFile: async (path) => void files.delete(path),
  })
  return machine
}
