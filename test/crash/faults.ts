import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkAfterFault, checkWhole } from '../helpers/invariants.ts'
import type { Lab, Ran } from './lab.ts'
import { calls, canHappen, type Point, pointsIn } from './points.ts'

/** What a try came to. */
export interface Tried {
  point: Point
  /** False when the call did not come up this time. */
  reached: boolean
  problems: string[]
}

const realGit = Bun.which('git') ?? 'git'

/** Lists every point of the lab's command from its saved state. Leaves the lab to be restored. */
export async function listPoints(lab: Lab): Promise<Point[]> {
  lab.restore()
  const trace = join(lab.env.HOME ?? '', 'trace')
  const shim = gitShim(lab, null)
  const options = ['-qq', '-y', '-o', trace, '-e', `trace=${calls.join(',')},vfork,wait4`]
  const { code, output } = await lab.run(['strace', ...options], { PATH: shim.path })
  if (code !== 0) throw new Error(`the call to be listed failed: ${output}`)
  const folder = join(lab.scene.root, '..')
  const traces = readdirSync(shim.folder).filter((name) => name.startsWith('trace-'))
  return [
    ...pointsIn({ trace: readFileSync(trace, 'utf8'), process: 0, folder }),
    ...traces.flatMap((name) => {
      const text = readFileSync(join(shim.folder, name), 'utf8')
      return pointsIn({ trace: text, process: Number(name.slice('trace-'.length)), folder })
    }),
  ]
}

/** Lets one fault happen in one tick, then checks everything, lets a tick pass undisturbed, and checks again. */
export async function tryPoint(lab: Lab, point: Point): Promise<Tried> {
  const { reached, problems } = await letHappen(lab, point)
  problems.push(...checkAfterFault(lab.scene, lab.before))
  const next = await lab.tick()
  if (next.code !== 0) problems.push(`the next tick: exit ${next.code}: ${next.output.slice(-400)}`)
  else if (!next.output.includes('"outcome":"worked"'))
    problems.push(`the next tick: ${next.output.slice(0, 200)}`)
  problems.push(...checkWhole(lab.scene, lab.before))
  return { point, reached, problems }
}

/**
 * Runs the lab's command from its saved state, with one fault in it; tells what must never come of any fault. Calls have
 * other numbers at times: when the fault did not happen, or met a call that it cannot happen at, the command is run
 * again, and in the end the saved state is what there is.
 */
export async function letHappen(lab: Lab, point: Point): Promise<Omit<Tried, 'point'>> {
  for (let n = 0; n < 3; n++) {
    const { hit, code, output, hung } = await runWith(lab, point)
    if (!hit || !canHappen(point, hit)) continue
    const problems: string[] = []
    if (code === 1) problems.push(`exit 1: ${output.slice(-300)}`)
    if (hung) problems.push('it hung')
    return { reached: true, problems }
  }
  lab.restore()
  return { reached: false, problems: [] }
}

/** Runs the lab's command with a fault; `hit` is the call that met it, if one did. */
async function runWith(lab: Lab, point: Point): Promise<Ran & { hit: string | undefined }> {
  lab.restore()
  const log = join(lab.env.HOME ?? '', 'fault')
  rmSync(log, { force: true })
  const inject = ['-qq', '-y', '-o', log, '-e', `trace=${point.call}`, '-e', injection(point)]
  const shim = point.process === 0 ? null : gitShim(lab, { point, inject, log })
  const ran = shim ? await lab.run([], { PATH: shim.path }) : await lab.run(['strace', ...inject])
  const traced = existsSync(log) ? readFileSync(log, 'utf8') : ''
  return { ...ran, hit: /^.*(?:\(INJECTED\)|killed by SIGKILL).*$/m.exec(traced)?.[0] }
}

function injection({ call, n, kind }: Point): string {
  const what = kind === 'crash' || kind === 'kill' ? 'signal=SIGKILL' : `error=${kind}`
  return `inject=${call}:${what}:when=${n}`
}

/**
 * A folder for PATH whose `git` numbers its calls. Without a fault it traces each; with one, it runs the call of that
 * number under it, and for a `crash` kills the tick as soon as git has died.
 */
function gitShim(lab: Lab, fault: { point: Point; inject: string[]; log: string } | null) {
  const folder = join(lab.env.HOME ?? '', 'shim')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const quoted = (words: string[]) => words.map((word) => `'${word}'`).join(' ')
  const traced = `exec strace -qq -y -o '${folder}/trace-'$n -e trace=${calls.join(',')} '${realGit}' "$@"`
  const faulty = fault
    ? [
        `[ $n = ${fault.point.process} ] || exec '${realGit}' "$@"`,
        `strace ${quoted(fault.inject)} '${realGit}' "$@"`,
        'code=$?',
        ...(fault.point.kind === 'crash'
          ? [`case $(cat '${fault.log}') in *SIGKILL*) kill -9 $PPID;; esac`]
          : []),
        'exit $code',
      ]
    : [traced]
  const script = [
    '#!/bin/sh',
    // A file that must be new: the tick runs several at once.
    'set -C',
    'n=1',
    `until { true > '${folder}/ran-'$n; } 2>/dev/null; do n=$((n + 1)); done`,
    ...faulty,
    '',
  ]
  writeFileSync(join(folder, 'git'), script.join('\n'), { mode: 0o755 })
  return { folder, path: `${folder}:${lab.env.PATH}` }
}
