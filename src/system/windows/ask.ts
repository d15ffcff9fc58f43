import { kernel32 } from './kernel32.ts'

/**
 * Sends Ctrl-C to the programs of another console, which is how a program without a window is asked to end. A process
 * has one console at a time, and leaving it would cost this one its output: a helper does it.
 */
export function askToEnd(pid: number): void {
  // From source there is no program that could be started as the helper; then the job ends it after its grace.
  if (!Bun.main.includes('~BUN')) return
  Bun.spawn([process.execPath, 'send-ctrl-c', String(pid)], {
    stdio: ['ignore', 'ignore', 'ignore'],
    windowsHide: true,
  }).unref()
}

/** What the helper does. Returns its exit code. */
export function sendCtrlC(pid: number): number {
  const calls = kernel32()
  calls.FreeConsole()
  if (!(pid > 0) || calls.AttachConsole(pid) === 0) return 1
  // Itself excepted.
  calls.SetConsoleCtrlHandler(null, 1)
  return calls.GenerateConsoleCtrlEvent(ctrlC, 0) === 0 ? 1 : 0
}

const ctrlC = 0
