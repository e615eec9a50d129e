/** The ways to a server of others: a program or a URL, neither of which can send more than it may. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transport } from '@modelcontextprotocol/client'
import type { Clock } from '../base/clock.ts'
import type { RemoteServer } from './config.ts'

interface TransportOptions {
  readonly clock: Clock
  /** The calls that run: an answer that grows too large ends the one it belongs to, or all where that cannot be told. */
  readonly calls: RunningCalls
}

/** The envelope around a result is not counted as its own. */
const envelopeBytes = 4096

export async function transportTo(settings: RemoteServer, { clock, calls }: TransportOptions): Promise<Transport> {
  const mostBytes = settings.max_bytes + envelopeBytes
  if ('command' in settings) {
    const { Program } = await import('./program.ts')
    const { command, args, env } = settings
    return new Program({ command, args, env, clock, mostBytes, flooded: () => calls.tooLarge() })
  }
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const { url, headers } = settings
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: async (input, init) => {
      // A stream of news without an end: nothing of it is used here. One that goes on with an answer is.
      if (init?.method === 'GET' && !new Headers(init.headers).has('last-event-id'))
        return new Response(null, { status: 405 })
      // A server that sends its callers elsewhere does not take its credentials along.
      return bounded(await fetch(input, { ...init, redirect: 'error' }), mostBytes, calls.current())
    },
  })
}

/** A response that ends with an error once it is too large: it is never in memory as a whole. */
function bounded(response: Response, mostBytes: number, exceeded: () => void): Response {
  if (response.body === null) return response
  let size = 0
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        size += part.length
        if (size <= mostBytes) return controller.enqueue(part)
        exceeded()
        controller.error(new Error('too large'))
      },
    }),
  )
  return new Response(counted, response)
}

export class RunningCalls {
  readonly #running = new Set<AbortController>()
  readonly #store = new AsyncLocalStorage<AbortController>()
  readonly #reason: () => Error

  constructor(tooLarge: () => Error) {
    this.#reason = tooLarge
  }

  async run<T>(ended: AbortController, work: () => Promise<T>): Promise<T> {
    this.#running.add(ended)
    try {
      return await this.#store.run(ended, work)
    } finally {
      this.#running.delete(ended)
    }
  }

  /** Ends the call that is running just here. */
  current(): () => void {
    const ended = this.#store.getStore()
    return () => ended?.abort(this.#reason())
  }

  /** Ends all of them. */
  tooLarge(): void {
    for (const ended of this.#running) ended.abort(this.#reason())
  }
}
