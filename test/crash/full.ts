// Every point of three whole ticks and of the verbs of a person: bun test/crash/full.ts [first|later|recovering|verbs|all] [1/4].
// `1/4` takes the first point of every four, so that four runs share the work. Says how many were tried and how many failed.
import { availableParallelism } from 'node:os'
import { listPoints, type Tried, tryPoint } from './faults.ts'
import { beginnings, type Lab, labBefore } from './lab.ts'
import { nameOf, type Point } from './points.ts'
import { tryVerb, verbCases, verbLab } from './verbs.ts'

const [, , part = 'all', share = '1/1'] = process.argv
const [taken = 1, of = 1] = share.split('/').map(Number)
const only = part === 'all' ? null : part
const started = Date.now()
let tried = 0
let missed = 0
let failed = 0
for (const name of beginnings) {
  if (only && only !== name) continue
  const labs = await makeLabs(() => labBefore(name))
  await tryAll(`${name} tick`, labs, tryPoint)
  for (const own of labs) own[Symbol.dispose]()
}
if (!only || only === 'verbs') {
  const labs = await makeLabs(verbLab)
  for (const verb of verbCases) {
    for (const own of labs) await verb.prepare(own)
    await tryAll(verb.name, labs, (own, point) => tryVerb(own, verb, point))
    for (const own of labs) own.restore()
  }
  for (const own of labs) own[Symbol.dispose]()
}
const minutes = ((Date.now() - started) / 60_000).toFixed(1)
console.log(`${tried} points tried (${missed} calls did not come up), ${failed} failed, ${minutes} min`)
process.exitCode = failed === 0 ? 0 : 1

function makeLabs(make: () => Promise<Lab>): Promise<Lab[]> {
  return Promise.all(Array.from({ length: availableParallelism() }, make))
}

async function tryAll(
  name: string,
  labs: Lab[],
  attempt: (lab: Lab, point: Point) => Promise<Tried>,
): Promise<void> {
  const [lab] = labs
  if (!lab) throw new Error('no lab')
  const all = await listPoints(lab)
  const points = all.filter((_, n) => n % of === taken - 1)
  console.log(`${name}: ${points.length} of ${all.length} points`)
  const work = async (own: Lab) => {
    for (let point = points.shift(); point; point = points.shift()) report(await attempt(own, point))
  }
  await Promise.all(labs.map(work))
}

function report({ point, reached, problems }: Tried): void {
  tried += 1
  if (!reached) missed += 1
  if (problems.length > 0) {
    failed += 1
    console.log(`FAILED ${nameOf(point)}\n  ${problems.join('\n  ')}`)
  }
  if (tried % 250 === 0)
    console.log(`${tried} tried, ${failed} failed, ${Math.round((Date.now() - started) / 1000)} s`)
}
