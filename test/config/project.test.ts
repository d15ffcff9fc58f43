import { describe, expect, test } from 'bun:test'
import { loadConfigMd } from '../../src/config/machine.ts'
import { loadModels, loadProjectConfig } from '../../src/config/project.ts'

describe('config.json', () => {
  test('a project without one keeps all phases', () => {
    const nothing = { phases: null, prices: {}, notify: [] }
    expect(loadProjectConfig(null)).toEqual(nothing)
    expect(loadProjectConfig('{}')).toEqual(nothing)
  })

  test('a project may keep a subset', () => {
    expect(loadProjectConfig('{"phases":["implement","code_review"]}').phases).toEqual([
      'implement',
      'code_review',
    ])
  })

  test('a phase that does not exist is refused', () => {
    expect(() => loadProjectConfig('{"phases":["implement","deploy"]}')).toThrow('phases[1] is "deploy"')
    expect(() => loadProjectConfig('{"phases":[]}')).toThrow('at least one phase')
  })
})

describe('the price table', () => {
  const load = (prices: unknown) => loadProjectConfig(JSON.stringify({ prices })).prices

  test('holds dollars for a million tokens by model id, as it is written', () => {
    const prices = { 'a/b:c': { input: 3, output: 15 }, x: { input: 0, output: 0.5, cached: 0.1 } }
    expect(load(prices)).toEqual(prices)
  })

  test.each([
    [{ m: { input: 1 } }, 'prices.m.output is missing'],
    [{ m: { input: -1, output: 1 } }, 'prices.m.input is -1; allowed: US dollars for a million tokens'],
    [{ m: { input: '1', output: 1 } }, 'prices.m.input is "1"'],
    [
      { m: { input: 1, output: 1, cache: 1 } },
      'prices.m.cache is not a known key; allowed: input, output, cached',
    ],
    [{ m: 3 }, 'prices.m is 3; allowed: a JSON object'],
  ])('%j is refused', (prices, message) => {
    expect(() => load(prices)).toThrow(message)
  })
})

describe('notify', () => {
  test('lists notifiers with their options', () => {
    const text = '{"notify":[{"use":"desktop"},{"use":"webhook","options":{"url":"http://x"}}]}'
    expect(loadProjectConfig(text).notify).toEqual([
      { use: 'desktop', options: {} },
      { use: 'webhook', options: { url: 'http://x' } },
    ])
  })

  test('a notifier without a name, or with a key that nothing reads, is refused', () => {
    expect(() => loadProjectConfig('{"notify":[{}]}')).toThrow('notify[0].use is missing')
    expect(() => loadProjectConfig('{"notify":[{"use":"x","opts":{}}]}')).toThrow(
      'notify[0].opts is not a known key',
    )
  })
})

describe('models.json', () => {
  test('a missing file is no models', () => {
    expect(loadModels(null)).toBeNull()
  })

  test('ids are opaque, listed once, and those of roles count', () => {
    expect(loadModels('{"default":"a/b:c","models":["a/b:c","x","x"],"roles":{"verify":"y"}}')).toEqual({
      default: 'a/b:c',
      models: ['a/b:c', 'x', 'y'],
      roles: { verify: 'y' },
    })
  })

  test('an id that is no text is refused', () => {
    expect(() => loadModels('{"models":[1]}')).toThrow('bad configuration (models.json): models[0] is 1')
    expect(() => loadModels('{"default":""}')).toThrow('default is ""')
  })
})

describe('config.md', () => {
  test('a missing file decides nothing', () => {
    expect(loadConfigMd(null)).toEqual({
      version: null,
      backend: 'auto',
      contextOverride: { all: null },
      server: null,
    })
  })

  test('lines that start with a setting count, the first of each, and prose does not', () => {
    const text = [
      '# Configuration',
      'version: 1.2.3',
      'version: 9.9.9',
      '- `backend: remote`: prose about a setting',
      'backend: local',
      'context_override: 32000',
      'context_override.verify: 16000\r',
      'context_override.implement: none',
      'local_endpoint: ollama http://127.0.0.1:11434/v1/',
    ].join('\n')
    expect(loadConfigMd(text)).toEqual({
      version: '1.2.3',
      backend: 'local',
      contextOverride: { all: 32000, verify: 16000 },
      server: { kind: 'ollama', url: 'http://127.0.0.1:11434' },
    })
  })

  test('the file of this repository sets only the version', async () => {
    const text = await Bun.file(`${import.meta.dir}/../../config.md`).text()
    expect(loadConfigMd(text)).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      backend: 'auto',
      contextOverride: { all: null },
      server: null,
    })
  })

  test.each([
    ['http://127.0.0.1:8080', { kind: null, url: 'http://127.0.0.1:8080' }],
    ['llama.cpp http://127.0.0.1:8080/', { kind: 'llama.cpp', url: 'http://127.0.0.1:8080' }],
    ['vllm https://gpu-box.lan/models/v1', { kind: 'vllm', url: 'https://gpu-box.lan/models' }],
    ['none', null],
  ] as const)('local_endpoint: %s', (value, server) => {
    expect(loadConfigMd(`local_endpoint: ${value}`).server).toEqual(server)
  })

  test.each([
    '127.0.0.1:8080',
    'file:///etc/passwd',
    'http://user:secret@127.0.0.1',
    'koboldcpp http://127.0.0.1:5001',
    'ollama',
    'ollama http://127.0.0.1 twice',
    'http://127.0.0.1/?key=1',
  ])('local_endpoint: %s is refused', (value) => {
    expect(() => loadConfigMd(`local_endpoint: ${value}`)).toThrow(
      'an address such as http://127.0.0.1:11434',
    )
  })

  test('a value that means nothing is refused', () => {
    expect(() => loadConfigMd('backend: cloud')).toThrow('backend is "cloud"; allowed: auto, local, remote')
    expect(() => loadConfigMd('context_override: 32k')).toThrow('context_override is "32k"')
    expect(() => loadConfigMd('context_override: 0')).toThrow('a whole number of tokens')
    expect(() => loadConfigMd('context_override.judge: 5')).toThrow('context_override.judge is no role')
  })
})
