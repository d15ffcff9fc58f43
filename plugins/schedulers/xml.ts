/** An element of an XML document. */
export interface Element {
  /** Without its namespace's prefix. */
  name: string
  children: Element[]
  /** The text that stands directly in it, entities and CDATA resolved. */
  text: string
}

/**
 * Reads a whole XML document and returns its outermost element; attributes are checked for their form and passed over.
 * Throws for what is not well-formed. Also for a document type with rules of its own: entities are never expanded.
 */
export function parseXml(document: string): Element {
  const root: Element = { name: '', children: [], text: '' }
  const open = [root]
  let at = document.startsWith('\ufeff') ? 1 : 0
  for (let token = tokenAt(document, at); token; token = tokenAt(document, at)) {
    at += token[0].length
    const { cdata, end, start, empty, text } = token.groups ?? {}
    const inner = open.at(-1) ?? root
    if (cdata !== undefined) inner.text += cdata
    else if (text !== undefined) inner.text += decode(text)
    else if (end !== undefined && (open.length === 1 || open.pop()?.name !== local(end))) {
      throw new Error(`</${end}> ends nothing that is open`)
    } else if (start !== undefined) {
      const element: Element = { name: local(start), children: [], text: '' }
      inner.children.push(element)
      if (empty === '') open.push(element)
    }
  }
  if (at < document.length) throw new Error(`what stands at character ${at + 1} is no XML`)
  const [only] = root.children
  if (open.length > 1) throw new Error(`<${open.at(-1)?.name}> is not ended`)
  if (!only || root.children.length > 1 || root.text.trim() !== '') throw new Error('it is not one element')
  return only
}

/**
 * Text as it stands in an element or a quoted attribute. Characters outside ASCII become references, so that the document
 * is the same bytes in every encoding that a reader may take it for.
 */
export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"']|[^ -~]/gu, (char) => names.get(char) ?? `&#${char.codePointAt(0)};`)
}

const names = new Map([...'&<>"\''].map((char, i) => [char, `&${['amp', 'lt', 'gt', 'quot', 'apos'][i]};`]))

const attribute = `\\s+[\\w:.-]+\\s*=\\s*(?:"[^"<]*"|'[^'<]*')`
const grammar = new RegExp(
  [
    '<!--[^]*?-->',
    '<\\?[^]*?\\?>',
    '<!DOCTYPE[^>[]*>',
    '<!\\[CDATA\\[(?<cdata>[^]*?)\\]\\]>',
    '</(?<end>[\\w:.-]+)\\s*>',
    `<(?<start>[\\w:.-]+)(?:${attribute})*\\s*(?<empty>/?)>`,
    '(?<text>[^<]+)',
  ].join('|'),
  'y',
)

function tokenAt(document: string, at: number): RegExpExecArray | null {
  grammar.lastIndex = at
  return grammar.exec(document)
}

function local(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

const entities = new Map([...names].map(([char, entity]) => [entity, char]))

function decode(text: string): string {
  return text.replaceAll(/&[^;\s]{0,10};?/g, (found) => {
    const [, hex, decimal] = /^&#(?:x([0-9a-f]+)|(\d+));$/i.exec(found) ?? []
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    const char = code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : entities.get(found)
    if (char === undefined) throw new Error(`${found} stands for nothing`)
    return char
  })
}
