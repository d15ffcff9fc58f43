import { isTerminal } from './tty.ts'

/** Colours as functions; each returns its text unchanged where colours are off. */
export interface Colors {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  green(text: string): string
  yellow(text: string): string
  cyan(text: string): string
}

/** What text is laid out for. */
export interface Page {
  /** Columns, 60 to 200. */
  width: number
  colors: Colors
}

type Env = Readonly<Record<string, string | undefined>>

/** The page of standard output. */
export async function openPage(env: Env, noColor: boolean): Promise<Page> {
  return { width: widthOf(env), colors: wantsColors(env, noColor) ? await colorful() : plain }
}

/** Columns of the page: `COLUMNS`, 80 when unknown. */
export function widthOf(env: Env): number {
  const columns = Number(env.COLUMNS)
  return Number.isInteger(columns) && columns > 0 ? Math.min(200, Math.max(60, columns)) : 80
}

/** No colours at all. */
export const plain: Colors = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same }

function same(text: string): string {
  return text
}

function wantsColors(env: Env, noColor: boolean): boolean {
  if (noColor || env.NO_COLOR) return false
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== '0'
  return env.TERM !== 'dumb' && isTerminal(1)
}

/** Loaded only where colours are shown: picocolors opens standard output as it is imported. */
async function colorful(): Promise<Colors> {
  const { createColors } = (await import('picocolors')).default
  return createColors(true)
}
