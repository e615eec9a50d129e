/** `tasks/*` on the wire: the methods of 2025-11-25, and those of the extension of 2026-07-28. */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { errorShape, HubError } from '../../../base/errors.ts'
import { nameKey } from '../../../base/names.ts'
import { agentOf } from '../../../core/access/rules.ts'
import type { Task } from '../../../core/tasks/tasks.ts'
import { readArguments } from '../args.ts'
import type { Exchange } from './exchange.ts'
import { isRecord, type Json } from './json.ts'
import { type Incoming, invalid } from './methods.ts'
import type { Service, ToolRow } from './service.ts'

export const extension = 'io.modelcontextprotocol/tasks'
const relatedKey = 'io.modelcontextprotocol/related-task'
const immediateKey = 'io.modelcontextprotocol/model-immediate-response'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/** Kept from one second to seven days, as asked; a day where nobody asks. */
const ttl = { least: 1000, most: 7 * 86_400_000, usual: 86_400_000 }
const pollMs = 1000
const page = 50

/** Tasks are their caller's at one place of a door, whatever session it has now. */
const ownerOf = <Scope>({ door }: Service<Scope>, { caller, scope }: Exchange<Scope>): string =>
  JSON.stringify([door.name, caller.key, scope])

/** An agent with a key is counted wherever it calls from; others by what their URL says, in one spelling. */
const waiterOf = <Scope>({ caller, scope }: Exchange<Scope>): string =>
  agentOf(caller) === undefined ? `${caller.key} ${nameKey(JSON.stringify(scope))}` : caller.key

const iso = (ms: number): string => new Date(ms).toISOString()

const legacyShape = ({ id, status, createdAt, updatedAt, ttlMs }: Task): Json => ({
  taskId: id,
  status,
  createdAt: iso(createdAt),
  lastUpdatedAt: iso(updatedAt),
  ttl: ttlMs,
  pollInterval: pollMs,
})

const modernShape = ({ id, status, createdAt, updatedAt, ttlMs }: Task): Json => ({
  taskId: id,
  // An error of a tool is a result like any other in this era.
  status: status === 'failed' ? 'completed' : status,
  createdAt: iso(createdAt),
  lastUpdatedAt: iso(updatedAt),
  ttlMs,
  pollIntervalMs: pollMs,
})

/** The result of the call that the task was, on its way to the client. */
async function handOut<Scope>(
  { tools }: Service<Scope>,
  { status, tool, result = '{}' }: Task,
  exchange: Exchange<Scope>,
): Promise<Json> {
  const value = JSON.parse(result)
  if (status === 'completed') await tools.get(tool)?.tool.handOut?.(value, exchange)
  const error = status === 'failed' ? { isError: true } : {}
  return { content: [{ type: 'text', text: result }], structuredContent: value, ...error }
}

const errorOf = (error: HubError): Json => {
  const shape = errorShape(error)
  return { content: [{ type: 'text', text: JSON.stringify(shape) }], structuredContent: shape, isError: true }
}

const declares = (params: Json): boolean => {
  const meta = isRecord(params._meta) ? params._meta : {}
  const capabilities = isRecord(meta[capabilitiesKey]) ? meta[capabilitiesKey] : {}
  return isRecord(capabilities.extensions) && extension in capabilities.extensions
}

function ttlOf(asked: unknown): number {
  if (asked === undefined || asked === null) return ttl.usual
  if (typeof asked !== 'number' || Number.isNaN(asked)) throw invalid('The ttl of a task is a number of milliseconds.')
  return Math.round(Math.min(ttl.most, Math.max(ttl.least, asked)))
}

/** The answer to a call that becomes a task; undefined for one that is answered by its result. */
export async function startTask<Scope>(
  service: Service<Scope>,
  { params, exchange, era, message }: Incoming<Scope>,
  { tool }: ToolRow<Scope>,
  args: unknown = params.arguments,
): Promise<string | undefined> {
  const { tasks } = service.engine
  const legacy = era.name === 'legacy'
  const asked = legacy ? isRecord(params.task) : declares(params)
  if (!asked || tasks === undefined) return undefined
  if (tool.task === undefined) {
    if (!legacy) return undefined
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${tool.name} does not run as a task.`)
  }
  const input = inputOf(tool, args)
  // Wrong arguments are answered at once; so is a call that does not wait, in the era in which the server decides.
  if (input === undefined || (!legacy && !tool.task(input))) return undefined
  const { conversation } = exchange
  const starting = tasks.start(
    exchange.caller,
    {
      owner: ownerOf(service, exchange),
      waiter: waiterOf(exchange),
      door: service.door.name,
      tool: tool.name,
      args: JSON.stringify(args ?? {}),
      scope: JSON.stringify(exchange.scope),
      ttlMs: ttlOf(legacy ? (params.task as Json).ttl : undefined),
    },
    legacy
      ? (ended) =>
          conversation?.tell?.(
            JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: legacyShape(ended) }),
          )
      : undefined,
  )
  const task = await starting.catch((thrown: unknown) => {
    if (thrown instanceof HubError) return service.word(thrown, exchange.scope)
    throw thrown
  })
  // An error of the tool like any other: the model reads it.
  if (task instanceof HubError) return era.encode(message.method, errorOf(task))
  const said = `${tool.title}: this goes on as task ${task.id}. Its result comes later; go on with other work meanwhile.`
  const _meta = { [immediateKey]: said }
  return era.encode(
    message.method,
    legacy ? { task: legacyShape(task), _meta } : { resultType: 'task', ...modernShape(task), _meta },
  )
}

/** Undefined for arguments that the call itself refuses. */
function inputOf<Scope>(tool: ToolRow<Scope>['tool'], args: unknown): unknown {
  try {
    return readArguments(tool, args)
  } catch {
    return undefined
  }
}

async function needTask<Scope>(service: Service<Scope>, { params, exchange }: Incoming<Scope>): Promise<Task> {
  const { taskId } = params
  const found =
    typeof taskId === 'string'
      ? await service.engine.tasks?.store.find(exchange.caller, taskId, ownerOf(service, exchange))
      : undefined
  if (found === undefined) throw invalid('There is no such task here, or its time is up.')
  return found
}

/** Whether any tool of a door runs as a task. */
export const takesTasks = <Scope>({ door, engine }: Service<Scope>): boolean =>
  engine.tasks !== undefined && door.tools.some(({ task }) => task !== undefined)

type Answer<Scope> = (incoming: Incoming<Scope>) => Promise<Json>

export function legacyTaskMethods<Scope>(service: Service<Scope>): Readonly<Record<string, Answer<Scope>>> {
  const { tasks } = service.engine
  if (tasks === undefined || !takesTasks(service)) return {}
  return {
    'tasks/get': async (incoming) => legacyShape(await needTask(service, incoming)),
    'tasks/list': async ({ params: { cursor }, exchange }) => {
      if (cursor !== undefined && typeof cursor !== 'string') throw invalid('The cursor must be a string.')
      const found = await tasks.store.list(exchange.caller, ownerOf(service, exchange), cursor, page + 1)
      const shown = found.slice(0, page)
      const more = found.length > page ? { nextCursor: shown.at(-1)?.id } : {}
      return { tasks: shown.map(legacyShape), ...more }
    },
    // Waits for the end of the task, however long that takes: a client that does not want to wait asks tasks/get.
    'tasks/result': async (incoming) => {
      const { id, owner } = await needTask(service, incoming)
      const { caller, signal, stopping } = incoming.exchange
      const task = await tasks.store.wait(caller, id, owner, [signal, stopping])
      if (task === undefined) throw invalid('The time of this task is up.')
      if (task.status === 'working')
        throw new ProtocolError(
          ProtocolErrorCode.InternalError,
          'Parley is shutting down; the task continues after its next start.',
        )
      if (task.status === 'cancelled') throw invalid('The task was cancelled.')
      const result = await handOut(service, task, incoming.exchange)
      return { ...result, _meta: { [relatedKey]: { taskId: id } } }
    },
    'tasks/cancel': async (incoming) => {
      const { id } = await needTask(service, incoming)
      const ended = await tasks.cancel(incoming.exchange.caller, id)
      if (ended === undefined) throw invalid('The task has ended already.')
      return legacyShape(ended)
    },
  }
}

export function modernTaskMethods<Scope>(service: Service<Scope>): Readonly<Record<string, Answer<Scope>>> {
  const { tasks } = service.engine
  if (tasks === undefined || !takesTasks(service)) return {}
  const declared =
    (answer: Answer<Scope>): Answer<Scope> =>
    (incoming) => {
      if (declares(incoming.params)) return answer(incoming)
      throw new ProtocolError(
        ProtocolErrorCode.MissingRequiredClientCapability,
        `Tasks need the client capability ${extension}.`,
        { requiredCapabilities: { extensions: { [extension]: {} } } },
      )
    }
  return {
    'tasks/get': declared(async (incoming) => {
      const task = await needTask(service, incoming)
      if (task.status !== 'completed' && task.status !== 'failed') return modernShape(task)
      const result = await handOut(service, task, incoming.exchange)
      return { ...modernShape(task), result: { resultType: 'complete', ...result } }
    }),
    // No task of Parley asks its client for anything.
    'tasks/update': declared(async (incoming) => {
      await needTask(service, incoming)
      return {}
    }),
    'tasks/cancel': declared(async (incoming) => {
      const { id } = await needTask(service, incoming)
      await tasks.cancel(incoming.exchange.caller, id)
      return {}
    }),
  }
}
