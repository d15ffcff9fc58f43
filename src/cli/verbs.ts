import type { Verb } from './verb.ts'
import { decideVerbs } from './verbs/decide.ts'
import { tickVerbs } from './verbs/in-tick.ts'
import { installVerbs } from './verbs/install.ts'
import { lookVerbs } from './verbs/look.ts'
import { programVerbs } from './verbs/programs.ts'
import { runVerbs } from './verbs/run.ts'
import { scheduleVerbs } from './verbs/schedule.ts'
import { startVerbs } from './verbs/start.ts'
import { taskVerbs } from './verbs/tasks.ts'
import { sessionVerbs } from './verbs/tick.ts'

/** Every command of the program. */
export const verbs: readonly Verb[] = [
  ...startVerbs,
  ...installVerbs,
  ...sessionVerbs,
  ...runVerbs,
  ...scheduleVerbs,
  ...lookVerbs,
  ...decideVerbs,
  ...taskVerbs,
  ...programVerbs,
  ...tickVerbs,
]
