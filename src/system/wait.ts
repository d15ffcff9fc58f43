// A longer timer would fire at once (a signed 32-bit count of milliseconds).
const longest = 2 ** 31 - 1

/** Resolves after that many milliseconds, or as soon as the signal is aborted. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(Math.max(0, ms), longest))
    signal?.addEventListener('abort', done, { once: true })
  })
}
