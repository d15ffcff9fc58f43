import type { SchedulerContext } from '../../src/api/scheduler.ts'
import { cronMachine } from '../plugins/schedulers/cron-machine.ts'
import { launchdMachine } from '../plugins/schedulers/launchd-machine.ts'
import { schtasksMachine } from '../plugins/schedulers/schtasks-machine.ts'
import { systemdMachine } from '../plugins/schedulers/systemd-machine.ts'

/** A pretended machine for each built-in scheduler. */
export const machines: Record<string, () => SchedulerContext> = {
  cron: () => cronMachine().context,
  launchd: () => launchdMachine().context,
  schtasks: () => schtasksMachine().context,
  systemd: () => systemdMachine().context,
}
