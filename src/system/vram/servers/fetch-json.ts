import http from 'node:http'
import https from 'node:https'

const longest = 4 << 20

/** An answer, or why there is none in words. */
export type Fetched = { json: unknown } | { problem: string; unreachable?: true }

/**
 * Gets JSON from an address as it is: no redirect is followed, and no proxy is asked, which `fetch` would do even for
 * this machine when a variable names one. Never throws.
 */
export function fetchJson(url: string, limitMs: number): Promise<Fetched> {
  const { promise, resolve } = Promise.withResolvers<Fetched>()
  const get = url.startsWith('https:') ? https.get : http.get
  const late = setTimeout(() => {
    resolve({ problem: `no answer within ${limitMs / 1000} seconds`, unreachable: true })
    request.destroy()
  }, limitMs)
  const request = get(url, { agent: false, headers: { accept: 'application/json' } }, (response) => {
    const chunks: Buffer[] = []
    let size = 0
    response.on('data', (chunk: Buffer) => {
      size += chunk.length
      chunks.push(chunk)
      if (size <= longest) return
      resolve({ problem: 'its answer is too long' })
      request.destroy()
    })
    response.on('end', () => resolve(read(response.statusCode ?? 0, Buffer.concat(chunks).toString())))
    response.on('error', () => resolve({ problem: 'its answer broke off' }))
  })
  request.on('error', (error) =>
    resolve({ problem: `cannot be reached: ${error.message}`, unreachable: true }),
  )
  return promise.finally(() => clearTimeout(late))
}

function read(status: number, text: string): Fetched {
  if (status !== 200) return { problem: `it answered ${status}` }
  try {
    return { json: JSON.parse(text) }
  } catch {
    return { problem: 'its answer is no JSON' }
  }
}
