/**
 * Whether a failed call says nothing of the file that it was made for: the disk reports an error, or the machine is short
 * of memory or descriptors. What is behind it may be right, and the next try may go well.
 */
export function isPassing(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null
  return [error, cause].some((at) => passing.has(String((at as { code?: unknown } | null)?.code)))
}

const passing = new Set(['EIO', 'EMFILE', 'ENFILE', 'ENOMEM'])
