/** Redis for what several processes share: commands in, replies out, and never a long wait. */
import {
  ClientClosedError,
  DisconnectsClientError,
  ErrorReply,
  RootNodesUnavailableError,
  SocketClosedUnexpectedlyError,
} from '@redis/client'
import { type Clock, systemClock } from '../base/clock.ts'
import { parseRedisUrl } from './address.ts'
import { createRedisClient, type RedisClient } from './clients.ts'

/** A nil reply is null. */
type Reply = string | number | null | Reply[]

export interface Redis {
  /** Rejects when Redis refuses the command, is away, or gives no reply in time; the message holds no part of the URL. */
  send(command: string, ...args: (string | number)[]): Promise<Reply>
  close(): void
}

export interface RedisOptions {
  readonly clock?: Clock
  /** The longest that a command takes, the connection included. */
  readonly timeoutMs?: number
  /** After a failure every command is refused at once for this long: a Redis that is away holds nobody up. */
  readonly restMs?: number
}

interface Waiting extends Pick<PromiseWithResolvers<Reply>, 'resolve' | 'reject'> {
  /** When it was sent. */
  readonly at: number
}

interface Connection {
  readonly client: RedisClient
  readonly ready: Promise<unknown>
}

export function openRedis(url: string, options: RedisOptions = {}): Redis {
  const { clock = systemClock, timeoutMs = 500, restMs = 5000 } = options
  const address = parseRedisUrl(url)
  if (address === undefined) throw new Error('This is not a Redis URL.')
  /** The oldest first. */
  const waiting = new Set<Waiting>()
  let connection: Connection | undefined
  let cancelWatch: (() => void) | undefined
  let failedAt = Number.NEGATIVE_INFINITY

  function fail(reason: string): void {
    connection?.client.destroy()
    connection = undefined
    unwatch()
    for (const { reject } of waiting) reject(new Error(`Redis ${reason}`))
    waiting.clear()
  }

  function away(reason: string): void {
    failedAt = clock.now()
    fail(reason)
  }

  /** One timer for the oldest command serves all: one each cost as much as the command. */
  function watch(): void {
    cancelWatch = undefined
    const [oldest] = waiting
    if (oldest === undefined) return
    const left = oldest.at + timeoutMs - clock.monotonic()
    if (left <= 0) away(`gave no reply within ${timeoutMs} ms`)
    else cancelWatch = clock.after(left, watch)
  }

  function unwatch(): void {
    cancelWatch?.()
    cancelWatch = undefined
  }

  function settled(one: Waiting): void {
    waiting.delete(one)
    if (waiting.size === 0) unwatch()
  }

  /** A connection that was given up may still report something: it no longer counts. */
  function lost(from: Connection, error: unknown): void {
    if (connection === from) away(reasonOf(error))
  }

  function connect(to: NonNullable<typeof address>): Connection {
    const client = createRedisClient(to, timeoutMs)
    const opened = { client, ready: client.connect() }
    client.onLost((error) => lost(opened, error))
    opened.ready.catch((error: unknown) => lost(opened, error))
    return opened
  }

  return {
    async send(command, ...args) {
      // A clock that is set back makes it no longer.
      if (Math.abs(clock.now() - failedAt) < restMs) throw new Error('Redis was away a moment ago')
      connection ??= connect(address)
      const used = connection
      const { promise, resolve, reject } = Promise.withResolvers<Reply>()
      const one = { resolve, reject, at: clock.monotonic() }
      waiting.add(one)
      if (cancelWatch === undefined) watch()
      used.ready
        .then(() => used.client.send([command, ...args.map(String)]))
        .then(
          (reply) => {
            if (!isReply(reply)) return lost(used, reply)
            resolve(reply)
            settled(one)
          },
          (error: unknown) => {
            // While it connects, a refusal is one of the connection.
            if (!(error instanceof ErrorReply) || connection !== used) return lost(used, error)
            reject(new Error(`Redis refused it: ${error.message.slice(0, 100)}`))
            settled(one)
          },
        )
      return promise
    },
    close: () => fail('is no longer needed'),
  }
}

/** No command that is sent here mixes errors into a list. */
const isReply = (value: unknown): value is Reply =>
  value === null ||
  typeof value === 'string' ||
  typeof value === 'number' ||
  (Array.isArray(value) && value.every(isReply))

/** Names no host and no user: the messages of the client may. */
function reasonOf(error: unknown): string {
  if (error instanceof ErrorReply) {
    if (/^(WRONGPASS|NOAUTH|ERR (AUTH|invalid password|Client sent AUTH))/.test(error.message))
      return 'takes no such password'
    return /DB index/.test(error.message) ? 'has no such database' : `refused it: ${error.message.slice(0, 100)}`
  }
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined) return `cannot be reached (${code})`
  if (error instanceof RootNodesUnavailableError) return 'cannot be reached (no node answers)'
  return closings.some((kind) => error instanceof kind)
    ? 'closed the connection'
    : 'answered with something that is no reply'
}

const closings = [SocketClosedUnexpectedlyError, ClientClosedError, DisconnectsClientError]
