/** A client of Redis, as small as its use here: one connection, commands in, replies out, and never a long wait. */
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { afterTurns, type Clock, systemClock } from './clock.ts'
import { encode, parse, type Reply } from './resp.ts'

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

/** No reply that is asked for here comes near it. */
const longestReply = 16 << 20

export function openRedis(url: string, options: RedisOptions = {}): Redis {
  const { clock = systemClock, timeoutMs = 500, restMs = 5000 } = options
  const { protocol, hostname, port, username, password, pathname } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const place = { host, port: Number(port || 6379), ...(isIP(host) === 0 && { servername: host }) }
  const waiting: Waiting[] = []
  let socket: Socket | undefined
  let unsent = ''
  let cancelWatch: (() => void) | undefined
  let failedAt = Number.NEGATIVE_INFINITY

  function fail(reason: string): void {
    socket?.destroy()
    socket = undefined
    unsent = ''
    unwatch()
    for (const { reject } of waiting.splice(0)) reject(new Error(`Redis ${reason}`))
  }

  function away(reason: string): void {
    failedAt = clock.now()
    fail(reason)
  }

  /** Replies come in order, so that one timer for the oldest command serves all: one each cost as much as the command. */
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

  /** What is sent in one turn goes out in one write: 64 callers at once then cost one, and their replies come together too. */
  function write(text: string): void {
    if (unsent === '') afterTurns(1, flush)
    unsent += text
  }

  function flush(): void {
    const text = unsent
    unsent = ''
    if (text !== '') socket?.write(text)
  }

  function open(): Socket {
    const opened = protocol === 'rediss:' ? connectTls(place) : connect(place)
    socket = opened
    // Nobody waits for a cache before the process ends.
    opened.setNoDelay(true).unref()
    // A socket that was given up may still report something: it no longer counts.
    const lost = (reason: string) => (socket === opened ? away(reason) : undefined)
    opened.on('error', ({ code = 'no code' }: NodeJS.ErrnoException) => lost(`cannot be reached (${code})`))
    opened.on('close', () => lost('closed the connection'))
    let rest: Buffer = Buffer.alloc(0)
    opened.on('data', (piece: Buffer) => {
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      try {
        for (let read = parse(rest); read !== undefined && socket === opened; read = parse(rest)) {
          rest = rest.subarray(read.end)
          const { value } = read
          if (value instanceof Error) waiting.shift()?.reject(value)
          else waiting.shift()?.resolve(value)
        }
        if (waiting.length === 0) unwatch()
        if (rest.length > longestReply) lost('answered with too much')
      } catch {
        lost('answered with something that is no reply')
      }
    })
    // Refused at once, before a reply behind it is read: that would be of the wrong database.
    const greet = (command: string[], reason: string) => {
      waiting.push({ resolve: () => {}, reject: () => lost(reason), at: clock.monotonic() })
      opened.write(encode(command))
    }
    const user = username === '' ? [] : [decodeURIComponent(username)]
    if (password !== '') greet(['AUTH', ...user, decodeURIComponent(password)], 'takes no such password')
    if (pathname.length > 1) greet(['SELECT', pathname.slice(1)], 'has no such database')
    return opened
  }

  return {
    async send(...command) {
      // A clock that is set back makes it no longer.
      if (Math.abs(clock.now() - failedAt) < restMs) throw new Error('Redis was away a moment ago')
      if (socket === undefined) open()
      const { promise, resolve, reject } = Promise.withResolvers<Reply>()
      waiting.push({ resolve, reject, at: clock.monotonic() })
      write(encode(command))
      if (cancelWatch === undefined) watch()
      return promise
    },
    close: () => fail('is no longer needed'),
  }
}
