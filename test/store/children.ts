import { join } from 'node:path'

const bin = join(import.meta.dir, '..', 'fixtures', 'bin')

/** A small program that runs beside a test. */
export interface Child {
  pid: number
  /** The next line that it prints; empty at the end. */
  line(): Promise<string>
  /** Closes its standard input, which these programs take as the word to end. */
  end(): void
  kill(): void
  exited: Promise<number>
}

/** Starts one of the small programs that tests of the store run beside themselves. */
export function child(name: string, ...args: string[]): Child {
  const run = Bun.spawn([process.execPath, join(bin, `${name}.ts`), ...args], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const reader = run.stdout.getReader()
  let text = ''
  async function line(): Promise<string> {
    for (;;) {
      const end = text.indexOf('\n')
      if (end >= 0) {
        const found = text.slice(0, end)
        text = text.slice(end + 1)
        return found
      }
      const { value, done } = await reader.read()
      if (done) return text
      text += Buffer.from(value).toString()
    }
  }
  return {
    pid: run.pid,
    line,
    end: () => void run.stdin.end(),
    kill: () => run.kill('SIGKILL'),
    exited: run.exited,
  }
}

/** Runs one to its end below another program (`sh -c …`), with `$@` as its command; returns what it printed. */
export function under(wrap: string[], name: string, ...args: string[]): string {
  const run = Bun.spawnSync([...wrap, process.execPath, join(bin, `${name}.ts`), ...args])
  return run.stdout.toString().trim() || `nothing: ${run.stderr.toString()}`
}

/** The words that make a command run as an ordinary user, whom permissions bind. */
export function ordinary(): string[] {
  return process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
}
