/** The methods of the protocol: those that both eras share, and those of each. */
import { isSpecType, type JSONRPCRequest, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { limits } from '../../../base/limits.ts'
import { abilitiesIn } from './dialogue.ts'
import type { Era } from './eras.ts'
import type { Exchange } from './exchange.ts'
import { instructionsFor } from './greeting.ts'
import type { Json } from './json.ts'
import { getPrompt } from './prompts.ts'
import { complete, listResources, readResource } from './resources.ts'
import type { Service } from './service.ts'
import { listen, subscribe, unsubscribe } from './subscriptions.ts'
import { extension, legacyTaskMethods, modernTaskMethods, takesTasks } from './task-methods.ts'
import { callTool, listTools } from './tools.ts'
import { toldIn } from './tools-for-connection.ts'
import { legacyVersions, modernVersions } from './versions.ts'

export interface Incoming<Scope> {
  readonly message: JSONRPCRequest
  readonly params: Json
  readonly exchange: Exchange<Scope>
  readonly era: Era<Scope>
}

/** Answers with the text of the result, as the era of the request writes it. */
export type Handler<Scope> = (incoming: Incoming<Scope>) => string | Promise<string>

type Methods<Scope> = Readonly<Record<string, Handler<Scope>>>

function sharedMethods<Scope>(service: Service<Scope>): Methods<Scope> {
  const { lists } = service
  return {
    'tools/call': (incoming) => callTool(service, incoming),
    'tools/list':
      service.door.moreTools === undefined
        ? fixed('tools', service.listed)
        : encoded((incoming) => listTools(service, incoming)),
    'resources/list':
      service.door.listResources === undefined
        ? fixed('resources', () => lists.resources)
        : encoded((incoming) => listResources(service, incoming)),
    'resources/templates/list': fixed('resourceTemplates', (incoming) =>
      service.templates(toldIn(service.door, incoming)),
    ),
    'resources/read': encoded((incoming) => readResource(service, incoming)),
    ...(service.door.complete && { 'completion/complete': encoded((incoming) => complete(service, incoming)) }),
    'prompts/list': fixed('prompts', () => lists.prompts),
    'prompts/get': encoded((incoming) => getPrompt(service, incoming)),
  }
}

export function legacyMethods<Scope>(service: Service<Scope>): Methods<Scope> {
  return {
    ...sharedMethods(service),
    initialize: encoded(async ({ params, exchange }) => {
      if (!isSpecType.InitializeRequestParams(params))
        throw invalid('initialize needs protocolVersion, capabilities and clientInfo.')
      const { name, version } = params.clientInfo
      exchange.welcome({ name, version, ...(talks(service) && { can: abilitiesIn(params.capabilities) }) })
      const known = legacyVersions.includes(params.protocolVersion)
      return {
        protocolVersion: known ? params.protocolVersion : legacyVersions[0],
        capabilities: { ...capabilities(service), logging: {}, ...(takesTasks(service) && { tasks: taskCapability }) },
        serverInfo: service.serverInfo,
        instructions: await instructionsFor(service, exchange),
      }
    }),
    ping: encoded(() => ({})),
    // Accepted at every door for the sake of clients that insist; only some have anything to tell.
    'logging/setLevel': encoded(({ params, exchange }) => {
      if (!isSpecType.SetLevelRequestParams(params)) throw invalid('logging/setLevel needs a level.')
      if (exchange.conversation !== undefined) exchange.conversation.level = params.level
      return {}
    }),
    'resources/subscribe': encoded(subscribe),
    'resources/unsubscribe': encoded(unsubscribe),
    ...encodedAll(legacyTaskMethods(service)),
  }
}

export function modernMethods<Scope>(service: Service<Scope>): Methods<Scope> {
  return {
    ...sharedMethods(service),
    'server/discover': encoded(async ({ exchange }) => ({
      supportedVersions: modernVersions,
      capabilities: { ...capabilities(service), ...(takesTasks(service) && { extensions: { [extension]: {} } }) },
      instructions: await instructionsFor(service, exchange),
    })),
    'subscriptions/listen': encoded((incoming) => listen(service, incoming)),
    ...encodedAll(modernTaskMethods(service)),
  }
}

/** Whether anything here asks its client; a session need not remember what a client can be asked, else. */
const talks = <Scope>({ door }: Service<Scope>): boolean =>
  door.tools.some((tool) => tool.talks || tool.own?.project !== undefined) ||
  door.prompts?.some((prompt) => prompt.talks) === true

/** `listChanged` is nowhere: the tables of a door do not change while it is served. */
const capabilities = <Scope>({ door }: Service<Scope>): Json => ({
  tools: {},
  resources: { subscribe: door.updates !== undefined },
  prompts: {},
  ...(door.complete && { completions: {} }),
})

export const invalid = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message)

/** The URI that a request names, before anything is matched against it. */
export function uriOf({ uri }: Json): string {
  if (typeof uri !== 'string') throw invalid('A uri is needed.')
  if (uri.length > limits.uriLength) throw invalid(`A URI has at most ${limits.uriLength} characters.`)
  return uri
}

const encoded =
  <Scope>(answer: (incoming: Incoming<Scope>) => Json | Promise<Json>): Handler<Scope> =>
  async (incoming) =>
    incoming.era.encode(incoming.message.method, await answer(incoming))

const encodedAll = <Scope>(answers: Readonly<Record<string, (incoming: Incoming<Scope>) => Promise<Json>>>) =>
  Object.fromEntries(Object.entries(answers).map(([method, answer]) => [method, encoded(answer)]))

const taskCapability = { list: {}, cancel: {}, requests: { tools: { call: {} } } }

/** A list that never changes is written once for each era: 2 instead of 20 µs for the tools of a large door. */
function fixed<Scope>(key: string, listFor: (incoming: Incoming<Scope>) => readonly object[]): Handler<Scope> {
  const texts = new Map<Era<Scope>, Map<readonly object[], string>>()
  return (incoming) => {
    const { message, params, era } = incoming
    if (params.cursor !== undefined && typeof params.cursor !== 'string') throw invalid('The cursor must be a string.')
    const list = listFor(incoming)
    const written = texts.get(era) ?? new Map<readonly object[], string>()
    const text = written.get(list) ?? era.encode(message.method, { [key]: list })
    texts.set(era, written.set(list, text))
    return text
  }
}
