/** `parley bus`: the bus door over stdin and stdout, for one client. It ends when stdin does. */
import type { Readable, Writable } from 'node:stream'
import { HubError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { processHolder, releaseNames } from '../core/access/holders.ts'
import { onClose } from '../core/hub/hub.ts'
import { keepPresence } from '../core/presence/presence.ts'
import { refusingDb } from '../db/failing-db.ts'
import { busDoor } from '../doors/bus/door.ts'
import { processScope } from '../doors/bus/holder.ts'
import { createEngine } from '../doors/mcp/protocol/engine.ts'
import { serveStdio } from '../doors/mcp/stdio/serve.ts'
import { Usage } from '../doors/mcp/usage.ts'
import type { Config } from '../settings/all.ts'
import type { Settings } from '../settings/read.ts'
import { llmOf } from './llm.ts'
import { ChangesMissing } from './loss.ts'
import { openDatabase, openLog, openOn } from './open.ts'
import { ownCaller } from './own-caller.ts'
import { startTracing } from './tracing.ts'
import { version } from './version.ts'

interface BusOptions {
  readonly project?: string | undefined
  readonly agent?: string | undefined
}

export async function bus({ config, warnings }: Settings, options: BusOptions): Promise<void> {
  const log = openLog(config)
  for (const warning of warnings) log.warn(warning)
  const { stdin, stdout } = process
  // A signal ends it as the end of stdin does: waits end, names are freed.
  process.once('SIGINT', () => stdin.destroy()).once('SIGTERM', () => stdin.destroy())
  await runBus(config, log, { ...options, stdin, stdout })
}

interface BusStreams extends BusOptions {
  readonly stdin: Readable
  readonly stdout: Writable
}

/** Everything of it but the process around it, until stdin ends. */
export async function runBus(config: Config, log: Log, { stdin, stdout, ...options }: BusStreams): Promise<void> {
  const db = await openDatabase(config).catch((error) => refuseCalls(error, log))
  const hub = await openOn(db, config, log, { llm: await llmOf(config, log) })
  const caller = await ownCaller(hub, config)
  const scope = processScope(options)
  const { clock, ids, metrics } = hub
  onClose(hub, await startTracing(config, { log, metrics }))
  const engine = createEngine({
    clock,
    ids,
    log,
    metrics,
    version,
    usage: new Usage({ noting: config.TOOLS_LOG_ENABLED }),
  })
  const endPresence = keepPresence(hub, { listens: false })
  await serveStdio(busDoor(hub, version), scope, { engine, caller, stdin, stdout })
  await releaseNames(hub, caller, processHolder(scope.process)).catch((error: unknown) =>
    log.debug({ err: error }, 'names were not freed'),
  )
  await endPresence()
  await hub.close()
}

/** A client shows its user a tool's error, but not why a server did not start. Hence it starts, and every call says why (bus.schema.mismatch). */
function refuseCalls(error: unknown, log: Log) {
  if (error instanceof ChangesMissing) log.error({ event: 'changes_missing', hint: error.hint }, error.message)
  else if (!(error instanceof HubError) || error.code !== 'DB_SCHEMA_MISMATCH') throw error
  return refusingDb(error)
}
