import * as v from 'valibot'
import { phases } from '../api/work.ts'

/*
 * The values that configuration files are made of. Every message says what is allowed: the error reads
 * "<path> is <found>; allowed: <message>".
 */

const nameRule = '1 to 63 of a-z, 0-9 and -, not starting with - and no Windows device name'
const scopeRule = 'a path or glob relative to the project, with / between folders and without ..'
const areaRule = 'a folder below design/, such as "loops", or null'
const branchRule = 'a branch name such as "main"'
const argumentsRule = 'a list of strings that starts with a program, or null'
const variableRule = 'names of variables such as "ACME_TOKEN"'
const phasesRule = 'a list of at least one phase, or null'
const year = 31_536_000

/** The phases that a loop may ever work. */
export const workablePhases = phases.slice(phases.indexOf('implement'), phases.indexOf('complete'))

/** A text that is not empty; a NUL character could not be handed to a program. */
export const text = (allowed: string) =>
  v.pipe(
    v.string(allowed),
    v.nonEmpty(allowed),
    v.check((value) => !value.includes('\0'), allowed),
  )

/** The name of a loop, a task or a plugin. */
export const name = v.pipe(
  v.string(nameRule),
  v.regex(/^[a-z0-9][a-z0-9-]{0,62}$/, nameRule),
  v.check((value) => !/^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/.test(value), nameRule),
)

/** A whole number; true and false are none, and neither is what JSON cannot hold exactly. */
export const whole = (allowed: string) => v.pipe(v.number(allowed), v.finite(allowed), v.safeInteger(allowed))

/** A whole number with a least value. */
export const wholeFrom = (least: number) => {
  const allowed = `a whole number of ${least} or more`
  return v.pipe(whole(allowed), v.minValue(least, allowed))
}

/** A finite number of 0 or more. */
export const amount = (allowed: string) =>
  v.pipe(v.number(allowed), v.finite(allowed), v.minValue(0, allowed))

/** A limit that may be absent. */
export const cap = v.nullable(amount('a number of 0 or more, or null for no cap'))

const secondsRule = 'seconds, more than 0 and at most a year'

/** A length of time in seconds; a timer longer than a year is a mistake. */
export const seconds = v.pipe(
  v.number(secondsRule),
  v.finite(secondsRule),
  v.gtValue(0, secondsRule),
  v.maxValue(year, secondsRule),
)

/** True or false. */
export const flag = v.boolean('true or false')

/** One of a few words. */
export const oneOf = <const T extends readonly [string, ...string[]]>(options: T) =>
  v.picklist(options, options.map((option) => `"${option}"`).join(', '))

/** Options that a plugin checks itself. */
export const options = v.record(v.string(), v.unknown(), 'a JSON object')

/** A folder prefix or glob below the project: relative, and never out of it. */
export const scopeEntry = v.pipe(
  text(scopeRule),
  v.check((path) => !/^[/\\~]|^[A-Za-z]:/.test(path) && !path.split(/[/\\]/).includes('..'), scopeRule),
  v.transform((path) => (/^(?:\.\/?)+$/.test(path) ? '**' : path.replace(/^(?:\.\/)+/, ''))),
)

/** The folder below `design/` that a backlog lies in. */
export const area = v.nullable(v.pipe(text(areaRule), v.regex(/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/, areaRule)))

/** A branch name that git can never take for an option or an expression. */
export const branch = v.pipe(text(branchRule), v.check(isBranchName, branchRule))

/** Program and arguments, or null. */
export const command = v.nullable(
  v.pipe(
    v.array(
      v.pipe(
        v.string(argumentsRule),
        v.check((value) => !value.includes('\0'), argumentsRule),
      ),
      argumentsRule,
    ),
    v.check(([program]) => program !== undefined && program !== '', argumentsRule),
    v.minLength(1, argumentsRule),
  ),
)

/** The name of an environment variable. */
export const variable = v.pipe(v.string(variableRule), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, variableRule))

const folderRule = 'an absolute folder, or one that starts with ~/'

/** A folder outside of the project. */
export const folder = v.pipe(v.string(folderRule), v.regex(/^(\/|~\/|[A-Za-z]:[\\/])[^\0]*$/, folderRule))

/** The phases of a loop; null: all of them. */
export const phaseList = v.nullable(
  v.pipe(
    v.array(v.picklist(workablePhases, workablePhases.join(', ')), phasesRule),
    v.minLength(1, phasesRule),
  ),
)

function isBranchName(value: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them in names too
  return value !== '@' && !/^[-/]|[\s~^:?*[\\\u0000-\u001f\u007f]|\.\.|@\{|\/\/|[/.]$|\.lock$/.test(value)
}
