/** One HTTP request with a time limit, and the reason where there was no answer. */
import type { Clock } from '../../base/clock.ts'
import { parsedJson } from '../../base/json.ts'
import { limits } from '../../base/limits.ts'

interface Asked {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object | undefined
  readonly signal?: AbortSignal | undefined
  readonly clock: Clock
  readonly patienceMs: number
}

export interface Fetched {
  readonly status: number
  /** Undefined where the body is no JSON. */
  readonly json: unknown
}

/** The message ends the sentence "The server …" and names no secret: the text of a failed request may hold headers. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

export async function request(url: string, { clock, patienceMs, signal, ...asked }: Asked): Promise<Fetched> {
  const late = new AbortController()
  const cancel = clock.after(patienceMs, () => late.abort())
  const headers: Record<string, string> = { ...asked.headers, accept: 'application/json' }
  if (asked.body !== undefined) headers['content-type'] = 'application/json'
  try {
    const response = await fetch(url, {
      method: asked.method,
      headers,
      redirect: 'error',
      signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
      ...(asked.body !== undefined && { body: JSON.stringify(asked.body) }),
    })
    return { status: response.status, json: parsedJson(await read(response)) }
  } catch (error) {
    if (error instanceof Unreachable) throw error
    if (late.signal.aborted) throw new Unreachable(`gave no answer within ${patienceMs / 1000} s`)
    throw new Unreachable(`cannot be reached${cause(error)}`)
  } finally {
    cancel()
  }
}

async function read(response: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.byteLength
    if (size > limits.clientAnswerBytes) throw new Unreachable('answered with more than it should')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function cause(error: unknown): string {
  const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? ` (${code})` : ''
}
