import { expect, test } from 'bun:test'
import { failedCases } from '../../plugins/sources/ci-junit.ts'

const ids = (xml: string) => failedCases(xml).map(({ id }) => id)

test('a failure and an error are found, a pass and a skip are not', () => {
  const xml = `<?xml version="1.0"?><testsuites><testsuite name="s" tests="4">
    <testcase classname="a.B" name="passes" time="0.1"/>
    <testcase classname="a.B" name="fails" file="test/b.ts"><failure message="no &lt;good&gt;" type="X"><![CDATA[at <b>:7]]></failure></testcase>
    <testcase name='errs' classname='a.B'><error message="boom"/></testcase>
    <testcase classname="a.B" name="skipped"><skipped/></testcase>
  </testsuite></testsuites>`
  expect(failedCases(xml)).toEqual([
    { id: 'a.B > fails', file: 'test/b.ts', text: 'no <good>\nat <b>:7' },
    { id: 'a.B > errs', file: '', text: 'boom' },
  ])
})

test('what stands in output, comments and attributes is no result', () => {
  const xml = `<testsuite>
    <!-- <testcase name="x"><failure/></testcase> -->
    <testcase name="a > b"><system-out><![CDATA[<failure message="no"/>]]></system-out></testcase>
    <testcase name="real"><failure/></testcase>
  </testsuite>`
  expect(ids(xml)).toEqual(['real'])
})

test('a case is told once, and one whose class is its name too is not named twice', () => {
  const one = '<testcase classname="x" name="x"><failure message="m"/></testcase>'
  expect(ids(one + one)).toEqual(['x'])
  expect(ids('<testcase><failure/></testcase>')).toEqual(['a test without a name'])
})

test('entities are read, and characters that cannot be are left out', () => {
  const xml = '<testcase name="&#x41;&#66;&quot;&unknown;&#0;"><failure/></testcase>'
  expect(ids(xml)).toEqual(['AB"&unknown;'])
})

test.each([
  '',
  'no xml',
  '<',
  '<testcase',
  '<testcase name="',
  '<failure/>',
  '<testcase name="x"><failure',
  '<!--',
  '<![CDATA[',
])('broken text %j has no failed case and does no harm', (xml) => {
  expect(failedCases(xml)).toEqual([])
})

test('a report of 8 MB is read in reasonable time, whatever is in it', () => {
  const start = performance.now()
  failedCases('<testcase name="x"><failure>'.repeat(250_000))
  failedCases(`<testcase name="${'<'.repeat(4_000_000)}`)
  failedCases('<'.repeat(4_000_000))
  failedCases('&'.repeat(2_000_000))
  failedCases(`<${'a'.repeat(4_000_000)}>`)
  failedCases(`<testcase ${'a '.repeat(2_000_000)}>`)
  expect(performance.now() - start).toBeLessThan(10_000)
})
