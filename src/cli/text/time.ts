/** How long ago or from now a time is, for people: `12 min ago`, `in 3 h`. */
export function relative(iso: string | null, now: string): string {
  if (iso === null) return 'never'
  const seconds = (Date.parse(iso) - Date.parse(now)) / 1000
  const size = Math.abs(seconds)
  if (Number.isNaN(size)) return 'unknown'
  if (size < 5) return 'now'
  return seconds < 0 ? `${duration(size)} ago` : `in ${duration(size)}`
}

/** A length of time in its largest unit. */
export function duration(seconds: number): string {
  if (seconds < 60) return `${Math.round(seconds)} s`
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} d`
}

/** A time to the second, in UTC: `2026-06-22 10:04:05Z`. */
export function clockTime(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z')
}
