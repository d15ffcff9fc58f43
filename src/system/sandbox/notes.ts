import type { Rule } from './ground.ts'
import type { SandboxPolicy } from './policy.ts'
import type { RefusedWrite } from './writes.ts'

/** What a person should know of a policy, whatever sandbox it is drawn for. */
export function policyNotes({ refused, loose }: Pick<SandboxPolicy, 'refused' | 'loose'>): string[] {
  return [...refused.map(refusedNote), ...loose.map(looseNote)]
}

/** Says which folder a harness does not get, and why. */
function refusedNote({ path, why }: RefusedWrite): string {
  return `the harness may not write ${path}: ${why}`
}

/** Says which folder nobody gets under Landlock: who may write it could move what is hidden in it to where it can be read. */
export function hidingNote({ folder, hidden }: { folder: string; hidden: string }): string {
  return refusedNote({ path: folder, why: `Landlock cannot keep ${hidden} in it hidden` })
}

/** Says what Landlock leaves open; `programs` are the folders of PATH among it. */
export function landlockHole(
  { path, access }: Pick<Rule, 'path' | 'access'>,
  programs: readonly string[],
): string {
  if (programs.includes(path))
    return `Landlock cannot protect the programs in ${path}, which is a folder of PATH: what a session leaves there may be run outside of the sandbox`
  if (access === 'hide') return `Landlock cannot keep ${path} hidden, because sessions may write its folder`
  return `Landlock cannot protect ${path}; changes are noticed after the session`
}

function looseNote(path: string): string {
  return `${path} is a folder of PATH, and a link on the way to it lies where the harness may write: a session can have it lead elsewhere`
}
