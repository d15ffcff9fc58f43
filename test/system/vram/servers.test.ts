import { afterEach, describe, expect, test } from 'bun:test'
import { askServer } from '../../../src/system/vram/servers/ask.ts'

/** Answers by path; a text is sent as it is. */
type Answers = Record<string, unknown>

const open: { stop(): void }[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.stop()
})

/** A model server on loopback, and what it was asked. */
function serve(answers: Answers) {
  const asked: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url)
      asked.push(`${request.method} ${pathname}`)
      if (!(pathname in answers)) return Response.json({ error: 'unexpected endpoint' }, { status: 404 })
      const answer = answers[pathname]
      if (answer instanceof Response) return answer
      return typeof answer === 'string' ? new Response(answer) : Response.json(answer)
    },
  })
  open.push({ stop: () => void server.stop(true) })
  return { url: `http://127.0.0.1:${server.port}`, asked }
}

const ollama = (...models: object[]): Answers => ({
  '/api/ps': { models },
  '/v1/models': { object: 'list', data: [{ id: 'qwen3:8b' }] },
})
const loaded = {
  name: 'qwen3:8b',
  model: 'qwen3:8b',
  size: 6_000_000_000,
  size_vram: 6_000_000_000,
  context_length: 32_768,
}
const llamaCpp: Answers = {
  '/props': {
    default_generation_settings: { id: 0, n_ctx: 16_384 },
    total_slots: 2,
    model_path: '/models/qwen3-8b.gguf',
    chat_template: '…',
  },
  '/v1/models': { object: 'list', data: [{ id: 'qwen3-8b.gguf', meta: { n_ctx_train: 40_960 } }] },
}
const lmStudioNow: Answers = {
  '/api/v1/models': {
    models: [
      {
        type: 'llm',
        key: 'qwen/qwen3-8b',
        loaded_instances: [{ id: 'qwen/qwen3-8b', config: { context_length: 24_000 } }],
        max_context_length: 40_960,
      },
      { type: 'llm', key: 'idle', loaded_instances: [], max_context_length: 131_072 },
      {
        type: 'embedding',
        key: 'nomic',
        loaded_instances: [{ id: 'nomic', config: { context_length: 2048 } }],
        max_context_length: 2048,
      },
    ],
  },
  '/v1/models': { data: [{ id: 'qwen/qwen3-8b' }] },
}
const lmStudioBefore: Answers = {
  '/api/v0/models': {
    object: 'list',
    data: [
      {
        id: 'qwen3-8b',
        type: 'llm',
        state: 'loaded',
        max_context_length: 40_960,
        loaded_context_length: 20_000,
      },
      { id: 'idle', type: 'vlm', state: 'not-loaded', max_context_length: 32_768 },
      {
        id: 'nomic',
        type: 'embeddings',
        state: 'loaded',
        max_context_length: 2048,
        loaded_context_length: 2048,
      },
    ],
  },
}
const vllm: Answers = {
  '/v1/models': { object: 'list', data: [{ id: 'Qwen/Qwen3-8B', object: 'model', max_model_len: 40_960 }] },
}

describe('each kind says what it has loaded', () => {
  test.each([
    ['ollama', ollama(loaded), 'qwen3:8b', 32_768],
    ['llama.cpp', llamaCpp, 'qwen3-8b.gguf', 16_384],
    ['lm-studio', lmStudioNow, 'qwen/qwen3-8b', 24_000],
    ['lm-studio', lmStudioBefore, 'qwen3-8b', 20_000],
    ['vllm', vllm, 'Qwen/Qwen3-8B', 40_960],
  ] as const)('%s', async (kind, answers, model, tokens) => {
    const { url } = serve(answers)
    const word = { url, kind, models: [{ model, tokens }], problem: null }
    expect(await askServer({ kind, url })).toEqual(word)
    // Where the person named no kind, it is known by its answers.
    expect(await askServer({ kind: null, url })).toEqual(word)
  })

  test('only what the person named is asked, and nothing is changed by asking', async () => {
    const { url, asked } = serve(ollama(loaded))
    await askServer({ kind: 'ollama', url })
    expect(asked).toEqual(['GET /api/ps'])
  })
})

describe('a server that does not tell is unknown', () => {
  const say = async (answers: Answers, kind: 'ollama' | 'vllm' | null = 'ollama') => {
    const word = await askServer({ kind, url: serve(answers).url })
    expect(word.models).toEqual([])
    return word.problem
  }

  test('nothing is loaded', async () => {
    expect(await say(ollama())).toBe('it has loaded no model')
    expect(await say(ollama(), null)).toBe('it has loaded no model')
  })

  test('an old one leaves the context out', async () => {
    expect(await say(ollama({ name: 'a' }, { name: 'b', context_length: null }))).toBe(
      'it has loaded no model',
    )
  })

  test.each([0, -1, 1.5, 'many', null, 1e12])('it has a context of %p', async (context_length) => {
    expect(await say(ollama({ name: 'a', context_length }))).toBe('it has loaded no model')
  })

  test('it is of another kind', async () => {
    expect(await say(vllm)).toBe('it answered 404')
    expect(await say(ollama(loaded), 'vllm')).toBe('/v1/models did not answer as vllm does')
  })

  test('it answers something else', async () => {
    expect(await say({ '/api/ps': '<html>login</html>' })).toBe('its answer is no JSON')
    expect(await say({ '/api/ps': '[]' })).toBe('/api/ps did not answer as ollama does')
    expect(await say({ '/api/ps': new Response('no', { status: 401 }) })).toBe('it answered 401')
    expect(await say({ '/api/ps': 'x'.repeat(5_000_000) })).toBe('its answer is too long')
  })

  test('it sends elsewhere: nothing but what the person named is asked', async () => {
    const other = serve(ollama(loaded))
    expect(await say({ '/api/ps': Response.redirect(`${other.url}/api/ps`) })).toBe('it answered 302')
    expect(other.asked).toEqual([])
  })

  test('nobody listens', async () => {
    const { url } = serve({})
    for (const server of open.splice(0)) server.stop()
    const word = await askServer({ kind: null, url })
    expect(word).toMatchObject({ kind: null, models: [] })
    expect(word.problem).toStartWith('cannot be reached')
  })

  test('it takes the call and never answers', async () => {
    const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    open.push({ stop: () => server.stop(true) })
    const url = `http://127.0.0.1:${server.port}`
    expect((await askServer({ kind: null, url }, 200)).problem).toBe('no answer within 0.2 seconds')
  })

  test('it begins to answer and stops', async () => {
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket) {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"models"')
        },
      },
    })
    open.push({ stop: () => server.stop(true) })
    const word = await askServer({ kind: 'ollama', url: `http://127.0.0.1:${server.port}` }, 200)
    expect(word.problem).toBe('no answer within 0.2 seconds')
  })
})

test('no proxy is asked for what is on this machine', async () => {
  const proxy = serve({ '/': 'the proxy' })
  const { url, asked } = serve(ollama(loaded))
  const before = process.env.HTTP_PROXY
  process.env.HTTP_PROXY = proxy.url
  try {
    expect((await askServer({ kind: 'ollama', url })).models).toHaveLength(1)
  } finally {
    if (before === undefined) delete process.env.HTTP_PROXY
    else process.env.HTTP_PROXY = before
  }
  expect(asked).toHaveLength(1)
  expect(proxy.asked).toEqual([])
})
