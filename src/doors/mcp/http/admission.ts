/** Admits the messages of a request one by one: each counts, and a reader calls no tool that writes. */
import { HubError } from '../../../base/errors.ts'
import type { Caller } from '../../../core/access/callers.ts'
import { asWriter, followsList, unmadeAgent } from '../../../core/access/rules.ts'
import { spend } from '../../http/admission.ts'
import type { Counted } from '../../http/limits/limiter.ts'
import type { Service } from '../protocol/service.ts'

/** The sender of a message. */
interface From {
  readonly caller: Caller
  readonly address: string
}

const counted: Readonly<Record<string, Counted>> = { 'tools/call': 'tools', 'resources/read': 'resources' }

/** An event stream, however it is asked for, is not counted. */
const streams = 'subscriptions/listen'

/** The caller that the message is answered for; throws where it is refused. A promise only where something is asked for elsewhere. */
export function admit<Scope>(
  service: Service<Scope>,
  from: From,
  { method, tool }: { readonly method: string; readonly tool?: unknown },
): Caller | Promise<Caller> {
  const { admission } = service.engine
  if (admission === undefined) return from.caller
  const enter = () => (method === 'tools/call' ? callerOfTool(service, from.caller, tool) : from.caller)
  const spent = method === streams ? undefined : spend(admission.limiter, from, countedAs(method))
  return spent instanceof Promise ? spent.then(enter) : enter()
}

const countedAs = (method: string): Counted => (Object.hasOwn(counted, method) && counted[method]) || 'requests'

function callerOfTool<Scope>(
  { tools, door, engine }: Service<Scope>,
  caller: Caller,
  name: unknown,
): Caller | Promise<Caller> {
  const tool = typeof name === 'string' ? tools.get(name)?.tool : undefined
  const { settle } = engine.admission ?? {}
  const readerTools = followsList(caller) ? engine.admission?.readerTools : undefined
  // An unknown tool is an error of its own; one of another server counts as writing, unless it is listed.
  if (tool === undefined) return caller.readOnly && readerTools?.has(String(name)) ? asWriter(caller) : caller
  if (caller.readOnly) {
    if (readerTools?.has(tool.name)) return tool.effect === 'write' ? asWriter(caller) : caller
    if (readerTools !== undefined || tool.effect === 'write') throw notForReaders(tool.name)
    return caller
  }
  return unmadeAgent(caller) !== undefined && tool.effect === 'write' && settle !== undefined
    ? settle(caller, door.name)
    : caller
}

const notForReaders = (tool: string): HubError =>
  new HubError('FORBIDDEN', `Your token may only read: it may not call ${tool}.`, {
    reason: 'only_reads',
    hint: 'Ask its issuer for a token with the role of a writer (the scope parley:write), or ask the operator to name the tool in HTTP_RBAC_READONLY_TOOLS.',
  })

/** The same for several messages: the caller of each, or the reason that it is refused. */
export const admitAll = <Scope>(
  service: Service<Scope>,
  from: From,
  messages: readonly { readonly method: string; readonly tool?: unknown }[],
): Promise<(Caller | HubError)[]> =>
  Promise.all(
    messages.map(async (message) => {
      try {
        return await admit(service, from, message)
      } catch (error) {
        if (error instanceof HubError) return error
        throw error
      }
    }),
  )
