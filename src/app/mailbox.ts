/** `parley mailbox`: a client of a Parley server over stdin and stdout, and the bridge to OpenClaw beside it or alone. */
import { hostname } from 'node:os'
import { stayAlive, systemClock } from '../base/clock.ts'
import { createIds } from '../base/ids.ts'
import { createMetrics } from '../base/metrics.ts'
import { Arrivals } from '../doors/mailbox-client/arrivals.ts'
import { mailboxClientDoor } from '../doors/mailbox-client/door.ts'
import { Bridge, type BridgeParts } from '../doors/mailbox-client/openclaw/bridge.ts'
import { createGateway } from '../doors/mailbox-client/openclaw/gateway.ts'
import { Retries } from '../doors/mailbox-client/retries.ts'
import { createServer } from '../doors/mailbox-client/server.ts'
import { Socket } from '../doors/mailbox-client/socket.ts'
import { createEngine } from '../doors/mcp/protocol/engine.ts'
import { serveStdio } from '../doors/mcp/stdio/serve.ts'
import { Usage } from '../doors/mcp/usage.ts'
import type { Config } from '../settings/all.ts'
import { ConfigError, type Settings } from '../settings/read.ts'
import { wakeOpenclaw, wakesOnly } from './mailbox-wake.ts'
import { openLog } from './open.ts'
import { version } from './version.ts'

/** For requests on their way to the server when the client goes away. */
const graceMs = 3000

export async function mailbox({ config, warnings }: Settings, { bridge: alone }: { bridge: boolean }): Promise<void> {
  if (alone) needBridge(config)
  const log = openLog(config)
  for (const warning of warnings) log.warn(warning)
  if (alone && wakesOnly(config)) {
    await Promise.race([wakeOpenclaw(config), untilSignal()])
    process.exit(0)
  }
  const clock = systemClock
  const ids = createIds(clock)
  const { MAILBOX_SERVER_URL: url, MAILBOX_API_KEY: key } = config
  // The bridge and the tools are two clients: one must not be given what the other has.
  const named = `${hostname().slice(0, 60)} ${process.pid} ${ids.short()}`
  const serverFor = (part: string) => createServer({ url, key, clock, ids, client: `${named} ${part}` })
  const server = serverFor('tools')
  const retries = new Retries({ clock, ids, log })
  const arrivals = new Arrivals({ server, clock, connected: () => socket?.open ?? false })
  const bridge =
    key === undefined ? undefined : openBridge(config, { server: serverFor('bridge'), retries, clock, ids, log })
  const happened = (event?: unknown) => {
    arrivals.note(event)
    bridge?.look()
  }
  const socket: Socket | undefined =
    key === undefined ? undefined : new Socket({ url, key, clock, ids, log, opened: happened, event: happened })

  if (alone) await untilSignal()
  else {
    const usage = new Usage({ noting: config.TOOLS_LOG_ENABLED })
    const engine = createEngine({ clock, ids, log, metrics: createMetrics(), version, usage })
    // A signal ends it as the end of stdin does.
    process.once('SIGINT', () => process.stdin.destroy()).once('SIGTERM', () => process.stdin.destroy())
    const handled = (id: string) => void retries.run('marking as read', () => server.markRead(id))
    const waitMs = config.MAX_WAIT_SECONDS * 1000
    await serveStdio(mailboxClientDoor({ server, arrivals, waitMs, handled }), undefined, { engine })
  }
  bridge?.close()
  socket?.close()
  const done = stayAlive()
  await retries.close(graceMs)
  done()
}

function needBridge(config: Config): void {
  const missing = [
    ...(config.MAILBOX_API_KEY === undefined ? ['MAILBOX_API_KEY'] : []),
    ...(config.OPENCLAW_GATEWAY_TOKEN === undefined && !wakesOnly(config)
      ? ['OPENCLAW_GATEWAY_TOKEN (or OPENCLAW_HOOKS_TOKEN)']
      : []),
  ]
  if (missing.length > 0)
    throw new ConfigError(`The bridge needs ${missing.join(' and ')}: set it in the environment or in ~/.parley/.env.`)
}

type BridgeRest = 'gateway' | 'mode' | 'sessionKey' | 'maxTurns'

/** On where the gateway's token is set (bridge.start.token). */
function openBridge(config: Config, parts: Omit<BridgeParts, BridgeRest>): Bridge | undefined {
  const { OPENCLAW_GATEWAY_URL: url, OPENCLAW_GATEWAY_TOKEN: token } = config
  if (token === undefined) return undefined
  return new Bridge({
    ...parts,
    gateway: createGateway({ url, token, clock: parts.clock }),
    mode: config.OPENCLAW_REPLY_MODE,
    sessionKey: config.OPENCLAW_SESSION_KEY,
    maxTurns: config.BRIDGE_MAX_TURNS,
  })
}

async function untilSignal(): Promise<void> {
  const done = stayAlive()
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve())
  })
  done()
}
