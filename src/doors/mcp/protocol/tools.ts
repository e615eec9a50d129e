/** `tools/call`: finds the tool, runs it, and writes its result so that text and structure cannot differ. */
import type { ProgressToken } from '@modelcontextprotocol/server'
import { HubError } from '../../../base/errors.ts'
import { unknownTool } from '../offers.ts'
import { Contents } from '../table.ts'
import { openAccount } from './accounts.ts'
import { resultText, runTool, startProgress } from './call.ts'
import { noteClientSession } from './client-session.ts'
import { openDialogue } from './dialogue.ts'
import type { Exchange } from './exchange.ts'
import { fillOwn } from './fill-arguments.ts'
import type { Json } from './json.ts'
import { sendNote } from './logging.ts'
import { type Incoming, invalid } from './methods.ts'
import type { Service, ToolRow } from './service.ts'
import { startTask } from './task-methods.ts'

export async function callTool<Scope>(service: Service<Scope>, incoming: Incoming<Scope>): Promise<string> {
  const { params, exchange, era } = incoming
  const { name, _meta: meta } = params
  if (typeof name !== 'string') throw invalid('tools/call needs the name of a tool.')
  const offered = service.offered(exchange.scope)
  const row = offered.tools.get(name) ?? (await findMore(service, exchange, name))
  if (row === undefined) {
    const { message, hint } = unknownTool(service.tools, offered, name)
    throw invalid(`${message} ${hint}`)
  }
  if (row.tool.talks) exchange.dialogue = openDialogue(service, incoming)
  const { args, fault } = row.tool.own === undefined ? { args: params.arguments } : await filled(service, incoming, row)
  const task = fault === undefined ? await startTask(service, incoming, row, args) : undefined
  if (task !== undefined) return task
  const token = (meta as Json | undefined)?.progressToken as ProgressToken | undefined
  const stop = token === undefined ? undefined : startProgress(service, token, exchange)
  const result = await runTool({ service, row, args, fault, exchange, meta })
  stop?.()
  if (result.ok) noteClientSession(service, incoming, { row, args, value: result.value })
  // A client that asks for it is told of its own call, without anything that was written (hub.logging.calls).
  if (service.door.logger !== undefined)
    sendNote(service, incoming, 'debug', { tool: name, outcome: result.ok ? 'ok' : 'error' })
  if (result.ok && row.tool.output === undefined && result.value instanceof Contents)
    return era.encode('tools/call', { content: result.value.blocks })
  const { text, structured } = resultText(row, result)
  // Text and structure are one string: equal by construction, and a third cheaper than stringifying twice.
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}]${structured ? `,"structuredContent":${text}` : ''}${
    result.ok ? '' : ',"isError":true'
  }${structured && exchange.plain ? fieldsOf(text, result.ok ? result.value : undefined) : ''}${era.tail}`
}

/** A connection and arguments that disagree are an error of the tool: the model reads it. */
async function filled<Scope>(
  service: Service<Scope>,
  incoming: Incoming<Scope>,
  row: ToolRow<Scope>,
): Promise<{ args: unknown; fault?: HubError }> {
  try {
    return { args: await fillOwn(service, incoming, row) }
  } catch (error) {
    if (error instanceof HubError) return { args: incoming.params.arguments, fault: error }
    throw error
  }
}

/** Scripts that know nothing of the protocol look for the fields of a result beside its content (all.plain.fields). */
function fieldsOf(text: string, value: unknown): string {
  const clashes = typeof value === 'object' && value !== null && ownNames.some((name) => Object.hasOwn(value, name))
  const members = (clashes ? withoutOwn(text) : text).slice(1, -1)
  return members === '' ? '' : `,${members}`
}

/** The protocol's own names in a result. */
const ownNames = ['content', 'structuredContent', 'isError', '_meta', 'resultType']

function withoutOwn(text: string): string {
  const fields = Object.entries(JSON.parse(text) as Json).filter(([name]) => !ownNames.includes(name))
  return JSON.stringify(Object.fromEntries(fields))
}

/** The tools of the table, and those that this caller is offered besides. */
export async function listTools<Scope>({ door, listed }: Service<Scope>, incoming: Incoming<Scope>): Promise<Json> {
  const more = (await door.moreTools?.(incoming.exchange)) ?? []
  return { tools: [...listed(incoming), ...more.flatMap(({ listed }) => listed ?? [])] }
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
