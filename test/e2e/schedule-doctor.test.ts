import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from '../../src/commands/doctor.ts'
import { must } from '../helpers/project.ts'
import { writeFiles } from '../helpers/repo.ts'
import { type CronProject, cronProject } from './schedule-kit.ts'

/** Puts a program into a folder of the person's PATH, and returns that PATH. */
function withProgram(project: CronProject, name: string, text: string): string {
  const folder = join(project.home, 'tools')
  writeFiles(folder, { [name]: `#!/bin/sh\n${text}\n` })
  chmodSync(join(folder, name), 0o755)
  return `${folder}:${project.env.PATH}`
}

async function findings(project: CronProject, PATH: string, more: Record<string, string> = {}) {
  const call = await project.call(['doctor', '--as-scheduler', '--json'], { env: { PATH, ...more } })
  const list = call.json().findings as Finding[]
  return { code: call.code, agent: list.filter(({ what }) => what.startsWith('agent')), list }
}

/** An agent that is logged in as long as a file says so, and sees a variable of the terminal that no schedule has. */
const agent = [
  '[ -n "$ONLY_IN_MY_SHELL" ] && exit 9',
  'case "$*" in',
  '  --version) echo "2.1.0 (Claude Code)" ;;',
  '  "auth status") [ -f "$HOME/logged-in" ] ;;',
  '  *) exit 8 ;;',
  'esac',
].join('\n')

describe('doctor --as-scheduler', () => {
  async function claudeProject() {
    const project = await cronProject({ createArgs: ['--harness', 'claude'] })
    project.configure({ harness: { command: null } })
    return project
  }

  test('starts the agent with the environment of the tick script, and says whether it is logged in', async () => {
    using project = await claudeProject()
    const path = withProgram(project, 'claude', agent)
    await must(project.call(['install-schedule', 'nightly'], { env: { PATH: path } }))
    const shell = { ONLY_IN_MY_SHELL: '1' }
    const out = await findings(project, path, shell)
    expect(out.code).toBe(3)
    expect(out.agent).toMatchObject([
      { level: 'good', detail: expect.stringContaining('starts: 2.1.0 (Claude Code)') },
      { level: 'bad', detail: 'it is not logged in, as scheduled ticks see it' },
    ])
    writeFiles(project.home, { 'logged-in': '' })
    const inside = await findings(project, '/usr/bin:/bin', shell)
    expect(inside.agent.map(({ level }) => level)).toEqual(['good', 'good'])
    expect(inside.list[0]).toMatchObject({ what: 'as nightly', level: 'good' })
    expect(inside.list[0]?.detail).not.toContain('ONLY_IN_MY_SHELL')
  }, 60_000)

  test('finds an agent that does not start, and one that is not on the PATH that was recorded', async () => {
    using project = await claudeProject()
    const path = withProgram(project, 'claude', 'echo "no such module" >&2; exit 1')
    await must(project.call(['install-schedule', 'nightly']))
    expect((await findings(project, path)).agent).toMatchObject([
      { level: 'bad', detail: expect.stringContaining('claude is in no folder of PATH=') },
    ])
    const plain = await project.call(['doctor', '--json'], { env: { PATH: path } })
    expect(plain.stdout).toContain('claude is in no folder of the PATH that its ticks have')
    await must(project.call(['install-schedule', 'nightly'], { env: { PATH: path } }))
    expect((await findings(project, path)).agent).toMatchObject([
      { level: 'bad', detail: expect.stringContaining('does not start: no such module') },
    ])
  }, 60_000)

  test('starts no program that a changed script names', async () => {
    using project = await claudeProject()
    const path = withProgram(project, 'claude', agent)
    withProgram(project, 'planted', 'echo > "$HOME/planted-ran"')
    await must(project.call(['install-schedule', 'nightly'], { env: { PATH: path } }))
    const script = readFileSync(project.scriptFile, 'utf8')
    const planted = join(project.home, 'tools', 'planted')
    writeFileSync(project.scriptFile, script.replace(/\S+ tick nightly/, `${planted} tick nightly`))
    const { code, list } = await findings(project, path)
    expect([code, list]).toMatchObject([3, [{ detail: 'its tick script is not as it was installed' }]])
    expect(existsSync(join(project.home, 'planted-ran'))).toBe(false)
  }, 60_000)

  test('looks at a loop without a schedule as if it had one', async () => {
    using project = await claudeProject()
    writeFiles(project.home, { 'logged-in': '' })
    const out = await findings(project, withProgram(project, 'claude', agent), { ONLY_IN_MY_SHELL: '1' })
    expect(out.agent.map(({ level }) => level)).toEqual(['good', 'good'])
  })
})

describe('doctor', () => {
  test('names a unit that is missing or was changed, with the command that writes it again', async () => {
    using project = await cronProject()
    await must(project.call(['install-schedule', 'nightly']))
    const good = project.table() ?? ''
    const schedule = async () => {
      const list = (await project.call(['doctor', '--json'])).json().findings as Finding[]
      return list.filter(
        ({ what, detail }) => what === 'schedule nightly' && !detail.startsWith('no cron daemon'),
      )
    }
    project.setTable('0 5 * * * backup\n')
    expect(await schedule()).toMatchObject([
      { level: 'bad', detail: 'its unit is missing from cron', fix: 'automaton install-schedule nightly' },
    ])
    project.setTable(`# ${good}`)
    expect(await schedule()).toMatchObject([{ level: 'bad', detail: 'its unit is switched off' }])
    project.setTable(good.replace('0 *', '7 *'))
    expect(await schedule()).toMatchObject([
      { detail: expect.stringContaining('its line in the crontab is "7 *') },
    ])
    const audit = (await project.call(['audit', '--json'])).stdout
    expect(audit).toContain('the schedule of loop nightly was changed: its line in the crontab')
    await must(project.call(['install-schedule', 'nightly']))
    expect(project.table()).toBe(good)
  }, 60_000)
})
