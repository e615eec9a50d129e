/** A WebSocket of the post door, as a client has it: the events in order, and how it was closed. */
import { onTestFinished } from 'vitest'
import { type ClientOptions, WebSocket } from 'ws'
import type { Body } from './post.ts'

export interface TestSocket {
  readonly socket: WebSocket
  /** The next event; rejects once the socket is closed. */
  next(): Promise<Body>
  /** Events that came and were not asked for. */
  readonly events: Body[]
  readonly closed: Promise<{ code: number; reason: string }>
  say(event: unknown): void
}

/** Resolves once it is open. */
export async function openSocket(
  { url }: { url: string },
  path: string,
  options: ClientOptions = {},
): Promise<TestSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, options)
  const events: Body[] = []
  const asking: { resolve: (event: Body) => void; reject: (error: Error) => void }[] = []
  socket.on('message', (data: Buffer) => {
    const event = JSON.parse(data.toString())
    const first = asking.shift()
    if (first === undefined) events.push(event)
    else first.resolve(event)
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', (code, reason) => {
      for (const { reject } of asking.splice(0)) reject(new Error(`closed with ${code}`))
      resolve({ code, reason: reason.toString() })
    })
  })
  onTestFinished(async () => {
    socket.terminate()
    await closed
  })
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject))
  socket.on('error', () => {})
  return {
    socket,
    events,
    closed,
    next: () =>
      new Promise((resolve, reject) => {
        const event = events.shift()
        if (event !== undefined) resolve(event)
        else if (socket.readyState === socket.CLOSED) reject(new Error('closed'))
        else asking.push({ resolve, reject })
      }),
    say: (event) => socket.send(typeof event === 'string' ? event : JSON.stringify(event)),
  }
}

/** The socket of an agent. */
export const socketOf = (parley: { url: string }, { key }: { key: string }): Promise<TestSocket> =>
  openSocket(parley, `/ws?api_key=${key}`)
