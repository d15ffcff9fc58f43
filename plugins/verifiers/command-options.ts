import * as v from 'valibot'

/** One program with its arguments. */
export const argv = v.pipe(
  v.array(v.string('a string')),
  v.check(([program]) => program !== undefined && program !== '', 'a program and its arguments'),
)

const message = 'a program and its arguments as a list of strings, or a list of such lists'

const one = v.pipe(
  argv,
  v.transform((command) => [command]),
)

/** One program with its arguments, or a list of such; always a list afterwards. */
export const commandList = v.union([one, v.pipe(v.array(argv), v.minLength(1))], message)

/** The same, or none. */
export const commandsOrNone = v.optional(v.union([one, v.array(argv)], message), [])

/** Seconds that a program may take. */
export const timeoutOption = v.optional(v.pipe(v.number(), v.finite(), v.gtValue(0)), 600)

/** Files that have to be as in the base commit while a program runs. */
export const protectOption = v.optional(v.array(v.pipe(v.string(), v.nonEmpty('a glob or a folder'))), [])
