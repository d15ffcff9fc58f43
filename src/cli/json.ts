/**
 * A report as one line of JSON, `"schema": 1` first, with what a terminal could act on escaped. Numbers have at most 12
 * digits: sums of money such as 0.1 + 0.2 are told as 0.3.
 */
export function jsonLine(report: object): string {
  return `${escapeControls(JSON.stringify({ schema: 1, ...report }, rounded))}\n`
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(12)) : value
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
