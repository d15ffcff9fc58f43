import type { SchedulerContext } from '../../src/api/scheduler.ts'
import { cronMachine } from '../plugins/schedulers/cron-machine.ts'

/** A pretended machine for each built-in scheduler. */
export const machines: Record<string, () => SchedulerContext> = {
  cron: () => cronMachine().context,
}
