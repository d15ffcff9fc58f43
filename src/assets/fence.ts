/** Puts text from outside between two lines that it cannot know; no text, no fence. */
export function fence(text: string, name: string, marker: string): string {
  if (text === '') return ''
  return `<<< ${name} ${marker}\n${text}\n>>> ${name} ${marker}`
}

/**
 * Keeps a text's beginning and end within `limit` characters and says in its middle how much went. Reports end with
 * what counts, so the end keeps a third. A limit too small even for saying so leaves only that, or a text that is
 * shorter than that.
 */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text
  const says = (gone: number) => `[… ${gone} of ${text.length} characters cut …]`
  const room = limit - says(text.length).length - 2
  if (room <= 0) return says(text.length).length < text.length ? says(text.length) : text
  const tail = Math.floor(room / 3)
  const head = whole(text.slice(0, room - tail), 'end')
  const end = tail === 0 ? '' : whole(text.slice(-tail), 'start')
  return `${head}\n${says(text.length - head.length - end.length)}\n${end}`
}

/**
 * Writes out characters that a person would not see and a model would read: controls, direction marks, zero-width
 * spaces, and the tag block. Joiners stay, because scripts and emoji need them.
 */
export function showInvisible(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu,
    (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )
}

/** Drops half of a surrogate pair at the side where the text was cut. */
function whole(text: string, side: 'start' | 'end'): string {
  return side === 'end' ? text.replace(/[\ud800-\udbff]$/, '') : text.replace(/^[\udc00-\udfff]/, '')
}
