/** A door made ready to be served: looked up by name, its lists derived once, its counters bound. */
import { asHubError, HubError } from '../../../base/errors.ts'
import { createOfferings, type Offering, onceEach } from '../offers.ts'
import { brief, inputSchema, outputSchema, shallow } from '../schema.ts'
import { type Door, hintOf, type Reach, type Resource, type Tool } from '../table.ts'
import { isTemplate, parseTemplate, type UriTemplate, withoutNeed } from '../uri.ts'
import { type Ended, openAccount } from './accounts.ts'
import type { Engine } from './engine.ts'
import type { Incoming } from './methods.ts'
import { advertiseTemplate, ownNames, type Told, toldIn, untold } from './tools-for-connection.ts'

export interface Service<Scope> {
  readonly door: Door<Scope>
  readonly engine: Engine
  /** Every tool, offered or not. */
  readonly tools: ReadonlyMap<string, ToolRow<Scope>>
  offered(scope: Scope): Offering<Scope>
  /** The answer of `tools/list`: without the arguments that the connection tells. */
  listed(incoming: Incoming<Scope>): readonly object[]
  readonly resources: readonly ResourceRow<Scope>[]
  readonly serverInfo: { readonly name: string; readonly title: string; readonly version: string }
  /** The answer of `resources/templates/list`: variables that the connection tells may be left out. */
  templates(told: Told): readonly object[]
  /** The answers of `resources/list` and `prompts/list`, as long as the process lives. */
  readonly lists: Readonly<Record<'resources' | 'prompts', readonly object[]>>
  /**
   * An error in the words of this door: the hint names its own calls, of those that the scope is offered. Every error on
   * its way to the wire comes by here.
   */
  word(thrown: unknown, scope: Scope, called?: ToolRow<Scope>): HubError
}

export interface ToolRow<Scope> {
  // biome-ignore lint/suspicious/noExplicitAny: the table holds tools of every input and value; defineTool checked each row
  readonly tool: Tool<Scope, any, any>
  /** Keeps account of a call that has ended. */
  readonly ended: (call: Ended) => void
}

interface ResourceRow<Scope> {
  readonly resource: Resource<Scope>
  readonly template: UriTemplate
}

export function createService<Scope>(door: Door<Scope>, engine: Engine): Service<Scope> {
  const tools = new Map(door.tools.map((tool) => [tool.name, { tool, ended: openAccount(door, tool, engine) }]))
  const list = (told: Told) => door.tools.map((tool) => untold(advertise(tool, door.terse), tool.own, told))
  const listed = (wanted: boolean) => door.resources.filter((resource) => isTemplate(resource.uri) === wanted)
  const templates = onceEach((told) => listed(true).map((resource) => advertiseTemplate(resource, told)))
  const offered = createOfferings(door, tools, list)
  return {
    door,
    engine,
    tools,
    offered,
    listed: (incoming) => offered(incoming.exchange.scope).list(toldIn(door, incoming)),
    templates,
    resources: door.resources.map((resource) => ({
      resource,
      template: parseTemplate(withoutNeed(resource.uri, ownNames(resource.own, 'both'))),
    })),
    serverInfo: { name: `parley-${door.name}`, title: door.title, version: engine.version },
    lists: {
      resources: listed(false).map(({ uri, name, description }) => ({
        uri,
        name,
        description,
        mimeType: 'application/json',
      })),
      prompts: (door.prompts ?? []).map(({ get: _, talks: __, ...listed }) => listed),
    },
    word: (thrown, scope, called) =>
      withHint(door, asHubError(thrown), {
        offers: (tool) => offered(scope).tools.has(tool),
        takes: (argument) => called !== undefined && Object.hasOwn(called.tool.input.shape, argument),
      }),
  }
}

function withHint<Scope>({ hints }: Door<Scope>, error: HubError, reach: Reach): HubError {
  const hint = hintOf(hints, error, reach)
  if (hint === undefined || hint === error.hint) return error
  const { code, message, reason, cause } = error
  return new HubError(code, message, { hint, reason, cause })
}

export function advertise<Scope>(tool: Tool<Scope>, terse = false) {
  const { name, title, description, effect, destructive = false, idempotent = false, alwaysLoad } = tool
  return {
    name,
    title,
    description,
    inputSchema: terse ? brief(inputSchema(tool)) : inputSchema(tool),
    outputSchema: terse ? shallow(outputSchema(tool)) : outputSchema(tool),
    annotations: {
      readOnlyHint: effect === 'read',
      destructiveHint: destructive,
      idempotentHint: idempotent || effect === 'read',
      openWorldHint: false,
    },
    execution: tool.task === undefined ? undefined : { taskSupport: 'optional' },
    _meta: alwaysLoad ? { 'anthropic/alwaysLoad': true } : undefined,
  }
}
