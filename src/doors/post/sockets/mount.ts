/** The WebSocket of the post door at /ws: its handshake, and the key that opens it. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { type WebSocket, WebSocketServer } from 'ws'
import { HubError } from '../../../base/errors.ts'
import { limits } from '../../../base/limits.ts'
import type { Caller } from '../../../core/access/callers.ts'
import { hashKey } from '../../../core/access/keys.ts'
import { needSelf } from '../../../core/agents/register-with-key.ts'
import type { Hub } from '../../../core/hub/hub.ts'
import { withoutBase } from '../../http/base-path.ts'
import type { Addressed } from '../../http/host-check.ts'
import type { WrongKeys } from '../../http/wrong-keys.ts'
import { toFailure } from '../failures.ts'
import { authOk, closes, readSaid } from './events.ts'
import { type Link, Sockets, type SocketTimes } from './sockets.ts'

interface SocketOptions extends SocketTimes {
  /** Throws for a request that names another host, or comes from a page of another site. */
  guard(request: Addressed): unknown
  callerOfKey(key: string): Caller | undefined | Promise<Caller | undefined>
  readonly wrongKeys?: WrongKeys | undefined
  /** How long a client may take to send its key as its first message. */
  readonly keyMs?: number
}

// Not imported: that loads every part of node:http, a client of its own among them (50 ms and 13 MB in a bare process).
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** How long clients may take to answer the close of a server that stops. */
const graceMs = 1000

export function mountSockets(
  app: FastifyInstance,
  hub: Hub,
  { guard, callerOfKey, wrongKeys, keyMs = 5000, ...times }: SocketOptions,
): void {
  const handshakes = new WebSocketServer({
    noServer: true,
    // Compression keeps a window of memory for each socket.
    perMessageDeflate: false,
    maxPayload: limits.socketMessageBytes,
    clientTracking: false,
  })
  const sockets = new Sockets(hub, times)
  let stopping = false

  // A request that offers another upgrade, such as to HTTP/2, is answered as a plain request.
  const isForSocket = isForSocketBelow(app.basePath)
  Object.assign(app.server, { shouldUpgradeCallback: isForSocket })
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', destroy)
    admit(request, socket, head).catch((error: unknown) => refuse(hub, socket, error))
  })
  app.addHook('preClose', (done) => {
    stopping = true
    sockets.stop(graceMs).then(() => done(), done)
  })

  async function admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (stopping) throw new HubError('SHUTTING_DOWN', 'The server stops.')
    if (!isForSocket(request)) throw new HubError('NOT_FOUND', 'WebSockets are at /ws.')
    guard(request)
    const key = keyOf(request)
    // Watched before the handshake ends: a connected client misses no event.
    const link = key === undefined ? undefined : await enter(key)
    const address = app.clientAddress(request)
    const tooMany = key !== undefined && link === undefined ? await wrongKey(address) : undefined
    if (tooMany !== undefined) throw tooMany
    if (socket.destroyed) return link?.leave()
    handshakes.handleUpgrade(request, socket, head, (opened) => {
      sockets.greet(opened)
      if (link !== undefined) sockets.attach(link, opened)
      else if (key !== undefined) opened.close(...closes.badKey)
      else awaitKey(opened, address)
    })
    // `ws` does not call back for a handshake that it refuses.
    if (link !== undefined && link.socket === undefined) link.leave()
  }

  /** A wrong key closes the socket; past the limit of its address, the handshake fails with this error. */
  async function wrongKey(address: string | undefined): Promise<HubError | undefined> {
    const judged = await wrongKeys?.judge(new HubError('UNAUTHENTICATED', 'The key is not valid.'), address)
    const tooMany = judged instanceof HubError && judged.code === 'RATE_LIMITED' ? judged : undefined
    app.noteRefused(tooMany === undefined ? 'key' : 'limited', address)
    return tooMany
  }

  async function enter(key: string): Promise<Link | undefined> {
    const caller = await callerOfKey(key)
    return caller && sockets.open(await needSelf(hub, caller), hashKey(key))
  }

  function awaitKey(socket: WebSocket, address: string | undefined): void {
    const cancel = hub.clock.after(keyMs, () => socket.close(...closes.noKey))
    socket.once('close', cancel)
    socket.once('message', (data: Buffer) => {
      cancel()
      const said = readSaid(data)
      const failed = (error: unknown) => {
        hub.log.error({ err: error }, 'a WebSocket could not be opened')
        socket.close(1011, 'Something went wrong inside Parley.')
      }
      const entered = (said?.type === 'auth' ? enter(said.key) : Promise.resolve(undefined))
        .then((link) => settle(link, socket, address))
        .catch(failed)
      // Messages that `ws` has read by now are handled after the key was checked; later ones wait in the kernel.
      socket.pause()
      const early = (more: Buffer) => void entered.then((link) => link && sockets.hear(link, more)).catch(failed)
      socket.on('message', early)
      void entered
        .then(() => {
          socket.off('message', early)
          socket.resume()
        })
        .catch(failed)
    })
  }

  async function settle(
    link: Link | undefined,
    socket: WebSocket,
    address: string | undefined,
  ): Promise<Link | undefined> {
    if (link === undefined) {
      const [code, reason] = (await wrongKey(address)) === undefined ? closes.badKey : closes.badKeys
      socket.close(code, reason)
    } else if (socket.readyState !== socket.OPEN) link.leave()
    else {
      socket.send(authOk, { binary: false })
      sockets.attach(link, socket)
      return link
    }
    return undefined
  }
}

function destroy(this: Duplex): void {
  this.destroy()
}

const isForSocketBelow =
  (base: string) =>
  ({ url = '', headers }: IncomingMessage): boolean =>
    headers.upgrade?.toLowerCase() === 'websocket' && /^\/ws\/?$/.test(withoutBase(url, base).split('?', 1)[0] ?? '')

/** From a header, or from the query as old clients send it; undefined if it comes as the first message. */
function keyOf({ url = '', headers }: IncomingMessage): string | undefined {
  const { 'x-api-key': header, authorization } = headers
  if (typeof header === 'string') return header
  if (authorization !== undefined) return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? ''
  return URL.parse(url, 'ws://localhost')?.searchParams.get('api_key') ?? undefined
}

function refuse(hub: Hub, socket: Duplex, error: unknown): void {
  const { status, body, retryAfter } = toFailure(error, hub.log)
  const text = JSON.stringify(body)
  const wait = retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Type: application/json\r\n${wait}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  )
}
