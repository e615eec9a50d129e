/** A line to a database that can be cut, fall silent, and be mended. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Line {
  /** The URL of the database over this line. */
  readonly url: string
  /** Ends every connection and refuses new ones. */
  cut(): void
  /** Nothing passes any more, and nobody is told: as when a machine loses its power. New connections are taken and stay silent. */
  silence(): void
  /** New connections pass again; those that fell silent stay silent. */
  mend(): void
}

export async function openLine(databaseUrl: string, later: (work: () => Promise<unknown>) => void): Promise<Line> {
  const url = new URL(databaseUrl)
  const [host, port] = [url.hostname, Number(url.port || 5432)]
  const sockets = new Set<Socket>()
  let state: 'whole' | 'cut' | 'silent' = 'whole'
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    if (state === 'cut') return near.destroy()
    keep(near)
    if (state === 'silent') return near.resume()
    const far = connect(port, host)
    keep(far)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.pipe(other)
      socket.once('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    state = 'cut'
    for (const socket of sockets) socket.destroy()
  }
  later(async () => {
    cut()
    server.close()
    await once(server, 'close')
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The line has no port.')
  url.hostname = '127.0.0.1'
  url.port = `${address.port}`
  return {
    url: url.href,
    cut,
    silence() {
      state = 'silent'
      // The bytes are read and dropped, so that the other end notices nothing.
      for (const socket of sockets) socket.unpipe().resume()
    },
    mend() {
      state = 'whole'
    },
  }
}
