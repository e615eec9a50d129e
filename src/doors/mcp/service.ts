/** A door made ready to be served: looked up by name, its lists derived once, its counters bound. */
import type { Outcome } from '../../base/metrics.ts'
import type { Engine } from './engine.ts'
import { inputSchema, outputSchema } from './schema.ts'
import type { Door, Resource, Tool } from './table.ts'
import { isTemplate, parseTemplate, type UriTemplate } from './uri.ts'

export interface Service<Scope> {
  readonly door: Door<Scope>
  readonly engine: Engine
  readonly tools: ReadonlyMap<string, ToolRow<Scope>>
  readonly resources: readonly ResourceRow<Scope>[]
  readonly serverInfo: { readonly name: string; readonly title: string; readonly version: string }
  /** What `tools/list` and its siblings answer: the same for every client, as long as the process lives. */
  readonly lists: Readonly<Record<'tools' | 'resources' | 'resourceTemplates' | 'prompts', readonly object[]>>
}

export interface ToolRow<Scope> {
  // biome-ignore lint/suspicious/noExplicitAny: the table holds tools of every input and value; defineTool checked each row
  readonly tool: Tool<Scope, any, any>
  /** Counts a call that ended so, and how long it took. */
  count(outcome: Outcome, ms: number): void
}

export interface ResourceRow<Scope> {
  readonly resource: Resource<Scope>
  readonly template: UriTemplate
}

export function createService<Scope>(door: Door<Scope>, engine: Engine): Service<Scope> {
  const tools = new Map(door.tools.map((tool) => [tool.name, { tool, count: counter(door.name, tool.name, engine) }]))
  const listed = (wanted: boolean) => door.resources.filter((resource) => isTemplate(resource.uri) === wanted)
  return {
    door,
    engine,
    tools,
    resources: door.resources.map((resource) => ({ resource, template: parseTemplate(resource.uri) })),
    serverInfo: { name: `parley-${door.name}`, title: door.title, version: engine.version },
    lists: {
      tools: door.tools.map(advertise),
      resources: listed(false).map(({ uri, name, description }) => ({
        uri,
        name,
        description,
        mimeType: 'application/json',
      })),
      resourceTemplates: listed(true).map(({ uri, name, description }) => ({
        uriTemplate: uri,
        name,
        description,
        mimeType: 'application/json',
      })),
      prompts: [],
    },
  }
}

export function advertise<Scope>(tool: Tool<Scope>): object {
  const { name, title, description, effect, destructive = false, idempotent = false, alwaysLoad } = tool
  return {
    name,
    title,
    description,
    inputSchema: inputSchema(tool),
    outputSchema: outputSchema(tool),
    annotations: {
      readOnlyHint: effect === 'read',
      destructiveHint: destructive,
      idempotentHint: idempotent || effect === 'read',
      openWorldHint: false,
    },
    _meta: alwaysLoad ? { 'anthropic/alwaysLoad': true } : undefined,
  }
}

/** Binding the labels once saves their look-up on every call. */
function counter(door: string, tool: string, { metrics }: Engine): (outcome: Outcome, ms: number) => void {
  const seconds = metrics.toolSeconds.labels(door, tool)
  const calls = {
    ok: metrics.toolCalls.labels(door, tool, 'ok'),
    error: metrics.toolCalls.labels(door, tool, 'error'),
    cancelled: metrics.toolCalls.labels(door, tool, 'cancelled'),
  }
  return (outcome, ms) => {
    calls[outcome].inc()
    seconds.observe(ms / 1000)
  }
}
