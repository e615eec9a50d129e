/** `parley hub`: the hub door over stdin and stdout, for one agent of this machine. It ends when stdin does. */
import { HubError } from '../base/errors.ts'
import { keepPresence } from '../core/presence/presence.ts'
import { hubDoor } from '../doors/hub/door.ts'
import { commandScope } from '../doors/hub/scope.ts'
import { createEngine } from '../doors/mcp/protocol/engine.ts'
import { serveStdio } from '../doors/mcp/stdio/serve.ts'
import { Usage } from '../doors/mcp/usage.ts'
import type { Settings } from '../settings/read.ts'
import { llmOf } from './llm.ts'
import { openDatabase, openLog, openOn } from './open.ts'
import { ownCaller } from './own-caller.ts'
import { openRemoteToolsOf } from './remote-tools.ts'
import { taskStore } from './tasks.ts'
import { version } from './version.ts'

interface HubOptions {
  readonly agent?: string
  readonly project?: string
}

export async function hub({ config, warnings }: Settings, options: HubOptions): Promise<void> {
  // Read first: a wrong name is told before anything is opened.
  const scope = commandScope(options)
  if (options.agent === undefined && config.PARLEY_API_KEY === undefined)
    throw new HubError('INVALID_ARGUMENT', '`parley hub` needs to know which agent its client is.', {
      hint: 'Add --agent <name>, set AGENT_NAME, or set PARLEY_API_KEY to the key of an agent.',
    })
  const log = openLog(config)
  for (const warning of warnings) log.warn(warning)
  const remoteTools = await openRemoteToolsOf(config, log)
  const opened = await openOn(await openDatabase(config), config, log, { remoteTools, llm: await llmOf(config, log) })
  const { clock, ids, metrics } = opened
  const usage = new Usage({ noting: config.TOOLS_LOG_ENABLED })
  const engine = createEngine({ clock, ids, log, metrics, version, usage, tasks: taskStore(opened) })
  process.once('SIGINT', () => process.stdin.destroy()).once('SIGTERM', () => process.stdin.destroy())
  const endPresence = keepPresence(opened, { listens: false })
  await serveStdio(hubDoor(opened), scope, { engine, caller: await ownCaller(opened, config) })
  await endPresence()
  await opened.close()
}
