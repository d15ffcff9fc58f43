import type { CanEditReport } from '../../commands/can-edit.ts'
import { safe } from '../safe.ts'

/** One line: the answer and why. */
export function canEditText(raw: CanEditReport): string {
  const { path, allowed, why } = safe(raw)
  return `${allowed ? 'allowed' : 'refused'}: ${path}: ${why}`
}
