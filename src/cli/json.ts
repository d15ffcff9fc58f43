/** A report as one line of JSON, `"schema": 1` first, with what a terminal could act on escaped. */
export function jsonLine(report: object): string {
  return `${escapeControls(JSON.stringify({ schema: 1, ...report }))}\n`
}

/** JSON's own escapes for C1 controls, line separators and direction marks, which stringify leaves as they are. */
function escapeControls(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
