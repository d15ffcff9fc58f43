import { fingerprint, type SourceContext, type WorkItem } from 'automaton'
import { parseBacklog } from './backlog-markdown.ts'
import { unfinished } from './unfinished.ts'

/** The open items of `design/<area>/BACKLOG.md` as work; none without an area or without the file. */
export async function backlogItems(ctx: SourceContext): Promise<WorkItem[]> {
  if (ctx.area === null) return []
  const path = `design/${ctx.area}/BACKLOG.md`
  const text = await ctx.readProjectFile(path)
  if (text === null) {
    ctx.log(`there is no ${path}`)
    return []
  }
  const items = parseBacklog(text).map(({ title, body, section, anchor }) => ({
    title,
    brief: [
      title,
      body,
      `This is an open item of \`${path}\`${section === '' ? '' : `, section "${section}"`}.`,
      'When it is done, tick it off there, or take it out.',
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
    fingerprint: fingerprint('backlog', path, title),
    design_ref: anchor === '' ? path : `${path}#${anchor}`,
  }))
  return unfinished(items, ctx)
}
