import type { DemoReport } from '../../commands/demo.ts'
import { field } from '../layout.ts'
import type { Page } from '../page.ts'

/** What the demo showed, and the way on to one's own repository. */
export function demoText(
  { complete, braked, folder, repository, program, seconds }: DemoReport,
  page: Page,
): string {
  const { width, colors } = page
  const line = (label: string, text: string) => field(label, text, width)
  return [
    colors.bold(`Done in ${seconds.toFixed(1)} s, without a model and without a network.`),
    '',
    ...line(
      complete.loop,
      `took ${complete.task} from implement to complete in ${complete.ticks} ticks. Its work is on branch ${complete.branch}; main was not touched.`,
    ),
    ...line(
      braked.loop,
      `changed ${braked.halt.files.join(', ')}, which is outside of its scope, and halted: ${braked.halt.reason}. Approved, it went on to ${braked.after}.`,
    ),
    ...line('files', `${folder}, until you remove it`),
    '',
    'Look around:',
    `  cd ${repository}`,
    `  git diff main ${complete.branch}`,
    `  ${program} log ${complete.loop}`,
    '',
    'And take it away again:',
    `  rm -rf ${folder}`,
    '',
    'Then with your own repository and agent:',
    '  cd YOUR-REPOSITORY',
    '  automaton init',
    '  automaton create-loop nightly --from-template backlog',
    '  echo "what you want, and how one sees that it is done" > brief.md',
    '  automaton create-task my-task --brief brief.md',
    '  automaton tick nightly',
  ].join('\n')
}
