/** `tools/call`: finds the tool, runs it, and writes its result so that text and structure cannot differ. */
import { LOG_LEVEL_META_KEY, type ProgressToken } from '@modelcontextprotocol/server'
import { unknownTool } from '../offers.ts'
import { openAccount } from './accounts.ts'
import { resultText, runTool, startProgress } from './call.ts'
import type { Exchange } from './exchange.ts'
import type { Json } from './json.ts'
import { type Incoming, invalid } from './methods.ts'
import type { Service, ToolRow } from './service.ts'
import { startTask } from './task-methods.ts'

export async function callTool<Scope>(service: Service<Scope>, incoming: Incoming<Scope>): Promise<string> {
  const { params, exchange, era } = incoming
  const { name, arguments: args, _meta: meta } = params
  if (typeof name !== 'string') throw invalid('tools/call needs the name of a tool.')
  const offered = service.offered(exchange.scope)
  const row = offered.tools.get(name) ?? (await findMore(service, exchange, name))
  if (row === undefined) {
    const { message, hint } = unknownTool(service.tools, offered, name)
    throw invalid(`${message} ${hint}`)
  }
  const task = await startTask(service, incoming, row)
  if (task !== undefined) return task
  const token = (meta as Json | undefined)?.progressToken as ProgressToken | undefined
  const stop = token === undefined ? undefined : startProgress(service, token, exchange)
  const result = await runTool({ service, row, args, exchange })
  stop?.()
  if (service.door.logger !== undefined) noteCall(service, incoming, result.ok)
  const { text, structured } = resultText(row, result)
  // Text and structure are one string: equal by construction, and a third cheaper than stringifying twice.
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}]${structured ? `,"structuredContent":${text}` : ''}${
    result.ok ? '' : ',"isError":true'
  }${era.tail}`
}

/** Tells a client that asked for it of its own call, without anything that was written (hub.logging.calls). */
function noteCall<Scope>({ door }: Service<Scope>, { params, exchange }: Incoming<Scope>, ok: boolean): void {
  const meta = params._meta as Json | undefined
  if ((exchange.conversation?.level ?? meta?.[LOG_LEVEL_META_KEY]) !== 'debug') return
  const data = { tool: params.name, outcome: ok ? 'ok' : 'error' }
  exchange.notify(
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'debug', logger: door.logger, data },
    }),
  )
}

/** The tools of the table, and those that this caller is offered besides. */
export async function listTools<Scope>(
  { door, offered }: Service<Scope>,
  { exchange }: Incoming<Scope>,
): Promise<Json> {
  const more = (await door.moreTools?.(exchange)) ?? []
  return { tools: [...offered(exchange.scope).list(), ...more.map(({ listed }) => listed)] }
}

/** Counted together: others choose their names, and a counter is kept for ever. */
async function findMore<Scope>(
  { door, engine }: Service<Scope>,
  exchange: Exchange<Scope>,
  name: string,
): Promise<ToolRow<Scope> | undefined> {
  const found = (await door.moreTools?.(exchange))?.find(({ tool }) => tool.name === name)
  return found && { tool: found.tool, ended: openAccount(door, { name: 'bridged', cluster: 'bridge' }, engine) }
}
