/** The fixture door on a server of its own. */
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../../src/base/clock.ts'
import { HubError } from '../../../src/base/errors.ts'
import { createApp, listen } from '../../../src/doors/http/app.ts'
import { mountDoor } from '../../../src/doors/mcp/http/serve.ts'
import { createEngine } from '../../../src/doors/mcp/protocol/engine.ts'
import type { Door } from '../../../src/doors/mcp/table.ts'
import { type FixtureScope, fixtureDoor, World } from './door.ts'
import { engineOptions, type TestEngineOptions } from './engine.ts'
import { memoryTasks } from './task-store.ts'

export interface FixtureOptions extends TestEngineOptions {
  bearerToken?: string
  unsentBytes?: number
  door?: (world: World) => Door<FixtureScope>
  /** Whether calls can be tasks. */
  tasks?: boolean
}

/** Serves the fixture on a free port until the test ends. */
export async function startFixture(options: FixtureOptions = {}) {
  const world = new World()
  const base = engineOptions(options)
  const engine = createEngine({ ...base, ...(options.tasks && { tasks: memoryTasks(systemClock) }) })
  const app = createApp({
    ...base,
    ...(options.unsentBytes !== undefined && { unsentBytes: options.unsentBytes }),
    host: '127.0.0.1',
    allowedHosts: [],
    allowedOrigins: [],
    bearerToken: options.bearerToken,
    allowLocalUnauthenticated: true,
    callerOfKey: async () => undefined,
    ready: async () => {},
    refresh: async () => {},
  })
  mountDoor(app, {
    engine,
    path: '/agents/:agent/mcp',
    door: (options.door ?? fixtureDoor)(world),
    scope({ agent = '' }) {
      if (!/^\w+$/.test(agent))
        throw new HubError('INVALID_ARGUMENT', 'The path names no agent.', { hint: 'Use letters.' })
      return { scope: { agent }, key: agent.toLowerCase() }
    },
  })
  await listen(app, { host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const close = () => app.close()
  return { app, engine, world, metrics: base.metrics, port, url: `http://127.0.0.1:${port}/agents/alice/mcp`, close }
}

export type Fixture = Awaited<ReturnType<typeof startFixture>>
