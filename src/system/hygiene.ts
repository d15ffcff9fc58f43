/** Names of variables whose values are secrets. */
const secretName = /TOKEN|SECRET|KEY|PASS|AUTH|CRED/i

/** Shorter values would mask ordinary words. */
const leastLength = 12

/**
 * Shapes of well-known tokens. Each is anchored at a border or bounded in length, so that hostile text
 * cannot make the search quadratic. An escape of JSON before it, such as `\n`, is a border too, though it ends in a letter.
 */
const shapes: readonly (readonly [name: string, shape: RegExp])[] = [
  [
    'private-key',
    /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g,
  ],
  [
    'github-token',
    /(?:(?<![A-Za-z0-9_])|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))(?:gh[opsur]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})/g,
  ],
  ['gitlab-token', /(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))glpat-[A-Za-z0-9_-]{20,}/g],
  ['api-key', /(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))sk-[A-Za-z0-9_-]{20,}/g],
  [
    'aws-key',
    /(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  ],
  [
    'google-key',
    /(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
  ],
  ['slack-token', /(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))xox[a-z]-[A-Za-z0-9-]{10,}/g],
  [
    'jwt',
    /(?:(?<![A-Za-z0-9_-])|(?<=\\[bfnrt]|\\u[0-9a-fA-F]{4}))eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  ],
]

/**
 * Makes the function that hides secrets in whatever is stored: values of 12 characters or more of variables named like
 * a secret become `[masked:NAME]` (also when JSON, URL or base64 encoded; each long line of a value of several lines
 * too), and well-known token shapes become `[masked:shape]`.
 */
export function maskSecrets(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const names = new Map<string, string>()
  for (const name of Object.keys(env).sort()) {
    const value = env[name]
    if (value === undefined || value.length < leastLength || !secretName.test(name)) continue
    for (const form of formsOf(value)) if (!names.has(form)) names.set(form, name)
  }
  const forms = [...names.keys()].sort((a, b) => b.length - a.length)
  const values = forms.length === 0 ? null : new RegExp(forms.map(escapeRegExp).join('|'), 'g')
  return (text) => {
    let masked = values ? text.replace(values, (form) => `[masked:${names.get(form)}]`) : text
    for (const [name, shape] of shapes) masked = masked.replace(shape, `[masked:${name}]`)
    return masked
  }
}

const keyBegin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g
const keyEnd = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/

/** A private key is never longer; past it an unclosed BEGIN line hides no more of a log. */
const longestKey = 16_384

/**
 * Applies a mask to text that arrives in blocks of whole lines, so that a private key whose lines lie in several
 * blocks is hidden too. `midway`: the text starts somewhere inside a longer one.
 */
export function maskStream(mask: (text: string) => string, midway = false): (block: string) => string {
  let open = 0
  let first = midway
  return (block) => {
    let text = block
    if (first) text = withoutKeyTail(text)
    first = false
    if (open > 0) {
      const end = keyEnd.exec(text)
      if (!end && open + text.length < longestKey) {
        open += text.length
        return ''
      }
      if (end) text = text.slice(end.index + end[0].length)
      open = 0
    }
    const begin = [...text.matchAll(keyBegin)].at(-1)
    const closed = begin && keyEnd.test(text.slice(begin.index))
    if (begin && !closed) open = text.length - begin.index
    return begin && !closed ? `${mask(text)}\n` : mask(text)
  }
}

/** Characters that change how a terminal or an eye reads the text around them, and lone surrogates. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]/gu

/**
 * Text for a person's eyes: controls (but newline and tab), terminal escapes, bidirectional controls, zero-width and
 * tag characters are shown as escapes such as `\x1b` and `\u202e`.
 */
export function visible(text: string): string {
  return text.replace(invisible, (character) => {
    if (character === '\n' || character === '\t') return character
    if (character === '\r') return '\\r'
    const code = character.codePointAt(0) ?? 0
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
    return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`
  })
}

function formsOf(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim())
  const forms = [value, ...lines, JSON.stringify(value).slice(1, -1), Buffer.from(value).toString('base64')]
  // A lone surrogate has no URL form.
  if (value.isWellFormed()) forms.push(encodeURIComponent(value))
  return forms.filter((form) => form.length >= leastLength)
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

function withoutKeyTail(text: string): string {
  const end = keyEnd.exec(text)
  if (!end) return text
  const begin = text.search(keyBegin)
  return begin >= 0 && begin < end.index
    ? text
    : `[masked:private-key]${text.slice(end.index + end[0].length)}`
}
