/** The longest time that a timer can be set to; a longer one would fire at once. */
const longest = 2 ** 31 - 1

/** A timer of any length that can start again. */
export interface Alarm {
  /** Begins the time anew. Cheap: it may be called for every chunk of output. */
  restart(): void
  cancel(): void
}

/** Calls `ring` once after `ms` milliseconds; absent or infinite: never. */
export function alarm(ms: number | undefined, ring: () => void): Alarm {
  if (ms === undefined || ms === Number.POSITIVE_INFINITY) return { restart() {}, cancel() {} }
  let since = performance.now()
  let timer: ReturnType<typeof setTimeout>
  const wait = () => {
    const left = since + ms - performance.now()
    // Also for NaN: a limit that is no number must not mean none.
    if (!(left > 0)) return ring()
    timer = setTimeout(wait, Math.min(Math.ceil(left), longest))
  }
  timer = setTimeout(wait, Math.min(Math.max(0, Math.ceil(ms)) || 0, longest))
  return {
    restart() {
      since = performance.now()
    },
    cancel: () => clearTimeout(timer),
  }
}

/** Waits for a promise, but no longer than `ms`. False when the time was up first; the timer is gone either way. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), ms)
  try {
    return await Promise.race([promise.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
