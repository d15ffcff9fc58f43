import type { AuditRule } from './types.ts'

/** A design document that names a file which no longer exists. */
export const designNamesMissingFile: AuditRule = {
  name: 'design-names-missing-file',
  severity: 'MEDIUM',
  isWorkable: true,
  find: ({ designs }) =>
    designs.flatMap(({ path, missing }) =>
      [...new Set(missing)].map((file) => ({
        place: `${path}#${file}`,
        task: null,
        path,
        message: `${path} names ${file}, which does not exist`,
      })),
    ),
}

/**
 * The files of the project that a Markdown document mentions: paths with a folder and an ending, in code spans or as the
 * target of a link, without globs, placeholders, fragments and web addresses. Sorted, each once.
 */
export function mentionedFiles(markdown: string): string[] {
  const spans = [...markdown.matchAll(/`([^`\n]{1,300})`|\]\(([^()\s]{1,300})\)/g)]
  const names = spans.map(([, code, link]) => (code ?? link ?? '').trim().replace(/#.*$/, ''))
  const plain = names.map((name) => name.replace(/^(?:\.?\/)+/, '').replace(/:\d+(?:[-:]\d+)?$/, ''))
  return [...new Set(plain.filter((name) => filePattern.test(name) && !name.includes('..')))].sort()
}

const filePattern = /^[\w.@+-]+(?:\/[\w.@+-]+)+\.[A-Za-z][A-Za-z0-9]{0,9}$/
