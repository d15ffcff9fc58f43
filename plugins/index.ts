import type { Plugin } from 'automaton'
import aider from './harnesses/aider.ts'
import amp from './harnesses/amp.ts'
import claude from './harnesses/claude.ts'
import codex from './harnesses/codex.ts'
import commandHarness from './harnesses/command.ts'
import copilot from './harnesses/copilot.ts'
import cursor from './harnesses/cursor.ts'
import gemini from './harnesses/gemini.ts'
import goose from './harnesses/goose.ts'
import opencode from './harnesses/opencode.ts'
import qwen from './harnesses/qwen.ts'
import commandNotifier from './notifiers/command.ts'
import desktop from './notifiers/desktop.ts'
import webhook from './notifiers/webhook.ts'
import cron from './schedulers/cron.ts'
import launchd from './schedulers/launchd.ts'
import schtasks from './schedulers/schtasks.ts'
import systemd from './schedulers/systemd.ts'
import audit from './sources/audit.ts'
import backlog from './sources/backlog.ts'
import ci from './sources/ci.ts'
import commandSource from './sources/command.ts'
import single from './sources/single.ts'
import commandVerifier from './verifiers/command.ts'
import metric from './verifiers/metric.ts'
import session from './verifiers/session.ts'

/** The plugins inside the program. They use the same module as a user's files, and nothing else. */
export const builtinPlugins: readonly Plugin[] = [
  audit,
  backlog,
  ci,
  commandSource,
  single,
  commandVerifier,
  metric,
  session,
  aider,
  amp,
  claude,
  codex,
  commandHarness,
  copilot,
  cursor,
  gemini,
  goose,
  opencode,
  qwen,
  commandNotifier,
  desktop,
  webhook,
  cron,
  launchd,
  schtasks,
  systemd,
]
