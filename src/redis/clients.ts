/** The official client of Redis, for each kind of address: its commands, without its retries. */
import { createClient, createCluster, createSentinel } from '@redis/client'
import type { RedisAddress } from './address.ts'

export interface RedisClient {
  connect(): Promise<unknown>
  send(command: readonly string[]): Promise<unknown>
  /** Ends the connection at once. */
  destroy(): void
  /** The connection is lost; later commands fail too. */
  onLost(listener: (error: Error) => void): void
}

/** Told by the commands that fail for it: one node of several may be away, while others answer. */
const unheard = () => {}

export function createRedisClient(address: RedisAddress, timeoutMs: number): RedisClient {
  const { kind, tls, nodes, username, password, database } = address
  const [{ host, port } = { host: '', port: 0 }] = nodes
  // Not again by itself: after a failure Redis is left alone for a while. A node that is silent leaves time for the next.
  const patience = { reconnectStrategy: false, connectTimeout: Math.ceil(timeoutMs / nodes.length) } as const
  const socket = tls ? ({ ...patience, tls } as const) : patience
  // RESP 2 without a greeting: no command but AUTH and SELECT precedes ours, so that a user of Redis needs no other right.
  const quiet = { RESP: 2, disableClientInfo: true, maintNotifications: 'disabled' } as const
  const login = password === undefined ? {} : { password, ...(username && { username }) }
  switch (kind) {
    case 'server': {
      const client = createClient({ ...quiet, ...login, database, socket: { ...socket, host, port } })
      // Nobody waits for a cache before the process ends.
      client.unref()
      return {
        connect: () => client.connect(),
        send: (command) => client.sendCommand([...command]),
        destroy: () => client.destroy(),
        onLost: (listener) => client.on('error', listener),
      }
    }
    case 'cluster': {
      const rootNodes = nodes.map((node) => ({ socket: { ...socket, ...node } }))
      const client = createCluster({ RESP: 2, rootNodes, defaults: { ...quiet, ...login, socket } })
      client.on('error', unheard)
      return {
        connect: () => client.connect(),
        send: (command) => client.sendCommand(keyOf(command), false, [...command]),
        destroy: () => client.destroy(),
        onLost: unheard,
      }
    }
    case 'sentinel': {
      const client = createSentinel({
        RESP: 2,
        name: address.master ?? '',
        sentinelRootNodes: [...nodes],
        nodeClientOptions: { ...quiet, ...login, database, socket },
        // Sentinels have no password of the servers, and refuse a client that sends one.
        sentinelClientOptions: { ...quiet, socket },
      })
      client.on('error', unheard)
      return {
        connect: () => client.connect(),
        send: (command) => client.sendCommand(false, [...command]),
        destroy: () => void client.destroy().catch(unheard),
        onLost: unheard,
      }
    }
  }
}

/** The key that decides which node of a Cluster has the command: `EVALSHA hash 1 key`, `GET key`. */
const keyOf = ([name = '', ...args]: readonly string[]): string | undefined => args[name.startsWith('EVAL') ? 2 : 0]
