declare module '*.md' {
  const text: string
  export default text
}

declare module '*.txt' {
  const text: string
  export default text
}

/** Baked in by build.ts; absent when run from source. */
declare const AUTOMATON_VERSION: string | undefined
