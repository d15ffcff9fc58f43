import config from '../../templates/home/config.md' with { type: 'text' }
import backlog from '../../templates/home/design/loops/BACKLOG.md' with { type: 'text' }
import readme from '../../templates/home/README.md' with { type: 'text' }

/** What an empty repository is filled with to be a HOME, by path. */
export const skeleton: ReadonlyMap<string, string> = new Map([
  // As the first loop would write them.
  ['.automaton/.gitignore', '/loops/\n/cache/\n/tasks/*/.state\n/projects/\n/trust.json\n'],
  ['tasks/.gitignore', '/*/.state\n'],
  ['README.md', readme],
  ['config.md', config],
  ['design/loops/BACKLOG.md', backlog],
])
