import { describe, expect, test } from 'bun:test'
import { maskSecrets, maskStream, visible } from '../../src/system/hygiene.ts'

const key = [
  '-----BEGIN OPENSSH PRIVATE KEY-----',
  'b3BlbnNzaC1rZXktdjEAAAAA',
  'AAAAtzc2gtZWQyNTUxOQ',
  '-----END OPENSSH PRIVATE KEY-----',
]

describe('masking secrets', () => {
  const mask = maskSecrets({
    DEPLOY_TOKEN: 'correct-horse-battery',
    my_secret: 'a+b(c)[d]*e?f',
    ANTHROPIC_API_KEY: 'correct-horse-battery-staple',
    DB_PASSWORD: 'short',
    HOME: '/home/somebody-with-a-long-name',
    UNSET_KEY: undefined,
  })

  test('values of secret names are replaced by the name, the longest first', () => {
    expect(mask('x correct-horse-battery y')).toBe('x [masked:DEPLOY_TOKEN] y')
    expect(mask('correct-horse-battery-staple')).toBe('[masked:ANTHROPIC_API_KEY]')
    expect(mask('=a+b(c)[d]*e?f=')).toBe('=[masked:my_secret]=')
  })

  test('short values and other names stay', () => {
    expect(mask('short in /home/somebody-with-a-long-name')).toBe('short in /home/somebody-with-a-long-name')
    expect(maskSecrets({})('nothing')).toBe('nothing')
  })

  test.each(['TOKEN', 'SECRET', 'KEY', 'PASS', 'AUTH', 'CRED'])(
    'a name with %s is one of a secret',
    (word) => {
      expect(maskSecrets({ [`MY_${word}_1`]: 'abcdefghijkl' })('abcdefghijkl')).toBe(`[masked:MY_${word}_1]`)
      expect(maskSecrets({ [word.toLowerCase()]: 'abcdefghijk' })('abcdefghijk')).toBe('abcdefghijk')
    },
  )

  test('a value is known in its JSON, URL and base64 forms too', () => {
    const value = 'pass"word/with spaces'
    const masked = maskSecrets({ A_PASS: value })
    expect(masked(JSON.stringify({ value }))).toBe('{"value":"[masked:A_PASS]"}')
    expect(masked(encodeURIComponent(value))).toBe('[masked:A_PASS]')
    expect(masked(btoa(value))).toBe('[masked:A_PASS]')
  })

  test('each long line of a value of several lines is hidden', () => {
    const masked = maskSecrets({ SSH_KEY: key.join('\n') })
    expect(masked('b3BlbnNzaC1rZXktdjEAAAAA')).toBe('[masked:SSH_KEY]')
  })

  test.each([
    ['github-token', `ghp_${'a1'.repeat(18)}`],
    ['github-token', `github_pat_${'A1_'.repeat(20)}`],
    ['api-key', 'sk-ant-api03-abcdefghijklmnop_qrst'],
    ['aws-key', 'AKIAABCDEFGHIJKLMNOP'],
    ['slack-token', 'xoxb-1234567890-abcdef'],
    ['jwt', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXBhcnQ'],
    ['private-key', key.join('\n')],
  ])('the shape of a %s is known', (name, secret) => {
    expect(mask(`before ${secret} after`)).toBe(`before [masked:${name}] after`)
  })

  test('ordinary text is no token', () => {
    const text =
      'task-sk-1 desk-top-publishing-application eyJ.eyJ.x AKIA ghp_short risk-assessment-of-everything'
    expect(mask(text)).toBe(text)
  })

  test.each([
    'eyJ',
    'eyJaaaaaaaa.',
    'sk-',
    'ghp_',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    'AKIA',
    '-',
  ])('a megabyte of "%s" is no burden', (piece) => {
    const started = performance.now()
    mask(piece.repeat(1_048_576 / piece.length))
    expect(performance.now() - started).toBeLessThan(1000)
  })
})

describe('masking a stream', () => {
  const lines = (mask: (text: string) => string, text: string[]) =>
    text.map((line) => mask(`${line}\n`)).join('')

  test('a private key over several blocks is hidden whole, and what follows is shown', () => {
    expect(lines(maskStream(maskSecrets({})), ['a', ...key, 'b', ...key, 'c'])).toBe(
      'a\n[masked:private-key]\n\nb\n[masked:private-key]\n\nc\n',
    )
  })

  test('a begin line without an end does not hide the rest for ever', () => {
    const mask = maskStream(maskSecrets({}))
    mask('-----BEGIN PRIVATE KEY-----\n')
    let shown = ''
    for (let i = 0; i < 3000 && !shown; i++) shown = mask('line\n'.repeat(10))
    expect(shown).toContain('line')
  })

  test('the end of a private key at the start of a cut stream is hidden', () => {
    const mask = maskStream(maskSecrets({}), true)
    expect(mask(`${key.slice(1).join('\n')}\nnext\n`)).toBe('[masked:private-key]\nnext\n')
    const whole = maskStream(maskSecrets({}), true)
    expect(whole(`a\n${key.join('\n')}\nb\n`)).toBe('a\n[masked:private-key]\nb\n')
  })
})

describe('text for the eye', () => {
  test.each([
    ['\x1b[31mred', '\\x1b[31mred'],
    ['\x1b]8;;http://x\x07link', '\\x1b]8;;http://x\\x07link'],
    ['a\rb', 'a\\rb'],
    ['\x00\x7f\x9b', '\\x00\\x7f\\x9b'],
    ['\u202etxt.exe', '\\u202etxt.exe'],
    ['a\u2066b\u2069', 'a\\u2066b\\u2069'],
    ['zero\u200bwidth\ufeff', 'zero\\u200bwidth\\ufeff'],
    ['tag\u{e0041}', 'tag\\u{e0041}'],
    ['\ud800', '\\ud800'],
    ['\u2028', '\\u2028'],
  ])('%j is shown as %j', (text, shown) => {
    expect(visible(text)).toBe(shown)
  })

  test('newlines, tabs and letters of every language stay', () => {
    const text = 'a\n\tb é 漢字 العربية 🎉 "quoted" \\back'
    expect(visible(text)).toBe(text)
  })
})
