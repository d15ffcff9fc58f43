// Control sequences of terminals: CSI, then strings that end in BEL or ST (OSC, DCS, APC, PM, SOS), then short escapes.
const escapes = new RegExp(
  [
    '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]',
    '(?:\\x1b[\\]PX^_]|[\\x9d\\x90\\x98\\x9e\\x9f])[^\\x07\\x1b\\x90\\x98\\x9c-\\x9f]*(?:\\x07|\\x9c|\\x1b\\\\)',
    '\\x1b[ -/]*[0-~]',
    '\\x1b',
  ].join('|'),
  'g',
)

/** A session's text without byte order marks, carriage returns and terminal escapes. Linear in the text. */
export function cleanText(text: string): string {
  return text.replace(/[\uFEFF\r]/g, '').replace(escapes, '')
}
