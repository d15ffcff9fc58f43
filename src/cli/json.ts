/** A report as one line of JSON, `"schema": 1` first, with what a terminal could act on escaped. */
export function jsonLine(report: object): string {
  return `${escapeControls(JSON.stringify({ schema: 1, ...report }))}\n`
}

/** JSON's own escapes for C1 controls, line separators, direction marks and what nobody sees, which stringify leaves as they are. */
function escapeControls(json: string): string {
  return json.replace(
    /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|\udb40[\udc00-\udfff]/g,
    (text) => [...Array(text.length).keys()].map((at) => `\\u${hex(text.charCodeAt(at))}`).join(''),
  )
}

function hex(unit: number): string {
  return unit.toString(16).padStart(4, '0')
}
