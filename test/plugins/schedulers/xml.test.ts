import { expect, test } from 'bun:test'
import { escapeXml, parseXml } from '../../../plugins/schedulers/xml.ts'
import { hostilePaths } from './machine.ts'

test('every text comes back as it was, and is ASCII in between', () => {
  for (const text of [...hostilePaths, ' leading', ']]>', '\ttab']) {
    const escaped = escapeXml(text)
    expect(escaped).toMatch(/^[ -~]*$/)
    expect(parseXml(`<a>${escaped}</a>`).text).toBe(text)
  }
})

test('what stands around elements is passed over, namespaces and attributes too', () => {
  const document = `\ufeff<?xml version="1.0"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- <b> --><t:a xmlns:t='x>y' v = "1"><t:b/><c>1<![CDATA[<&]]>&#x32;&amp;</c  ></t:a>
`
  expect(parseXml(document)).toEqual({
    name: 'a',
    text: '',
    children: [
      { name: 'b', text: '', children: [] },
      { name: 'c', text: '1<&2&', children: [] },
    ],
  })
})

test('what is not well-formed is refused', () => {
  const table = [
    ['', 'not one element'],
    ['text', 'not one element'],
    ['<a/><b/>', 'not one element'],
    ['<a>', '<a> is not ended'],
    ['<a></b>', '</b> ends nothing'],
    ['</a>', '</a> ends nothing'],
    ['<a><b></a></b>', '</a> ends nothing'],
    ['<a>&nbsp;</a>', '&nbsp; stands for nothing'],
    ['<a>a & b</a>', '& stands for nothing'],
    ['<a>&#0;</a>', '&#0; stands for nothing'],
    ['<a>&#x110000;</a>', 'stands for nothing'],
    ['<a b=c/>', 'no XML'],
    ['<a <b/>', 'no XML'],
    ['<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', 'no XML'],
    ['<a><!-- </a>', 'no XML'],
  ] as const
  for (const [document, why] of table) expect(() => parseXml(document)).toThrow(why)
})

test('a document without an end takes no longer than its length', () => {
  const started = performance.now()
  for (const part of ['<a>', '<!-- ', '&', '<a b="', '<![CDATA[', '<a b="1" ']) {
    expect(() => parseXml(part.repeat((1 << 20) / part.length))).toThrow()
  }
  expect(performance.now() - started).toBeLessThan(5000)
})
