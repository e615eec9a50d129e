/** The pool of connections for the work: each new one goes to the server that takes writes. */
import type { Socket } from 'node:net'
import { Client, type ClientConfig, Pool } from 'pg'
import { watchStandby } from './commit.ts'
import { needWrites, type Servers } from './servers.ts'
import { gatheringSocket } from './socket.ts'

export function createPool(servers: Servers, { connections, pooled }: { connections: number; pooled: boolean }): Pool {
  // Pipelining sends BEGIN with the first statement, and COMMIT with those that nobody waits for. A pooler may take what
  // follows the end of a transaction for the beginning of another one.
  const pipeline = !pooled
  const open = new Map<Socket, ClientConfig>()
  class ServerClient extends Client {
    constructor() {
      const server = servers.chosen
      const stream = () => {
        const socket = gatheringSocket()
        open.set(socket, server)
        return socket.once('close', () => open.delete(socket))
      }
      super({ ...server, pipeline, stream })
    }
  }
  servers.left = (left) => {
    for (const [socket, server] of open) if (server === left) socket.destroy()
  }
  const pool = new Pool({
    ...servers.chosen,
    max: connections,
    Client: ServerClient,
    ...(servers.change && { verify }),
  })
  // A connection that breaks while idle leaves the pool by itself; one that breaks in use fails its query.
  pool.on('error', () => servers.forget())
  pool.on('connect', (client) => {
    client.on('error', () => {})
    watchStandby(client)
  })
  return pool
}

/** Of several servers, one that took writes before may have come back as one that only reads. */
function verify(client: Client, done: (error?: Error) => void): void {
  needWrites(client).then(
    () => done(),
    (error: Error) => done(error),
  )
}
