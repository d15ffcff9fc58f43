import { definePlugin } from 'automaton'
import * as v from 'valibot'
import { desktopCommand } from './desktop-command.ts'
import { notifier, onOption } from './notice.ts'
import { tellBy } from './run.ts'

/** Shows a notification on the desktop: notify-send on Linux, osascript on macOS, a toast on Windows. */
export default definePlugin({
  name: 'desktop',
  api: 1,
  role: 'hooks',
  options: v.strictObject({ on: onOption }),
  setup: ({ options: { on } }) => ({
    hooks: notifier(on, (notice) => tellBy({ ...desktopCommand(process.platform, notice), seconds: 4 })),
  }),
})
