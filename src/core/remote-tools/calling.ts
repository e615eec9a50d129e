/** Calling the tools of other servers, for agents that hold a grant. */
import { HubError } from '../../base/errors.ts'
import type { RemoteTools } from '../../remote-tools/remote-tools.ts'
import type { RemoteTool } from '../../remote-tools/server.ts'
import { listGrantedServers } from '../../store/remote-tool-grants.ts'
import { needWriting } from '../access/rules.ts'
import { type Hub, reader } from '../hub/hub.ts'
import { type HubCaller, hubReaderOf } from '../threads/hub-readers.ts'

type CallResult = Awaited<ReturnType<RemoteTools['call']>>

/** The tools that the agent who looks may call: none without a grant, nor for somebody without a name (hub.bridge.grant). */
export async function listCallable(hub: Hub, hubCaller: HubCaller): Promise<readonly RemoteTool[]> {
  if (hub.remoteTools === undefined) return []
  const { agent } = await hubReaderOf(hub, hubCaller).catch(nobody)
  if (agent === undefined) return []
  return hub.remoteTools.tools(await listGrantedServers(reader(hub), agent.id, hub.clock.now()))
}

/** A caller who may not look here is offered the tools that everybody is. */
function nobody(error: unknown): { agent: undefined } {
  if (error instanceof HubError && (error.kind === 'not_found' || error.kind === 'forbidden'))
    return { agent: undefined }
  throw error
}

interface RemoteCall {
  readonly tool: string
  readonly args: Record<string, unknown>
  readonly signal: AbortSignal
}

/** The effect of the call on the other server is not known here: it counts as writing. */
export async function callRemoteTool(
  hub: Hub,
  hubCaller: HubCaller,
  { tool: name, args, signal }: RemoteCall,
): Promise<CallResult> {
  needWriting(hubCaller.caller)
  const tool = (await listCallable(hub, hubCaller)).find((one) => one.name === name)
  if (tool === undefined || hub.remoteTools === undefined)
    throw new HubError('NOT_FOUND', `There is no tool ${JSON.stringify(name)} here.`)
  return hub.remoteTools.call(tool, args, signal)
}
