/** Traces: the steps of a call as spans, where tracing is on. Else no code of OpenTelemetry is loaded, and a step costs one comparison. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type * as Api from '@opentelemetry/api'
import { HubError } from './errors.ts'

/** Numbers, and words of Parley's own: never a body, a subject, a token, a query, or the name of an agent or a project (serve.traces.content). */
type Attributes = Readonly<Record<string, string | number | boolean>>

/** Headers or `_meta`: where a client writes the trace that its request belongs to. */
type Carrier = Readonly<Record<string, unknown>>

/** A span under way, and those around it. */
interface Open {
  readonly span: Api.Span
  /** By its flags, not by whether it records: one that ended for a wait does not. */
  readonly sampled: boolean
  readonly outer?: Open | undefined
  /** Made for its first child (contextOf). */
  context?: Api.Context | undefined
}

interface Tracing {
  readonly api: typeof Api
  readonly tracer: Api.Tracer
  /** The span of whatever runs. A storage of our own: the contexts of the API are copied with each value that is put into them. */
  readonly active: AsyncLocalStorage<Open | undefined>
  /** Of every request that the sampler left out and no client asked for: its steps begin no spans. */
  readonly leftOut: RequestSpan
}

let on: Tracing | undefined

/** Traces this process from now on, until the returned function is called. */
export function traceBy(api: typeof Api, tracer: Api.Tracer): () => void {
  const active = new AsyncLocalStorage<Open | undefined>()
  const none: Open = { span: api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT), sampled: false }
  on = { api, tracer, active, leftOut: { sampled: false, within: (work) => active.run(none, work), end() {} } }
  return () => {
    on = undefined
  }
}

export const isTracing = (): boolean => on !== undefined

/** Whether steps of what runs have spans: asked first where even what a span would say costs something. */
export const isTraced = (): boolean => on?.active.getStore()?.sampled === true

/** Runs a step of a call as a span of its own. What no client asked for has none: the background would fill the store of traces. */
export function inSpan<T>(name: string, work: (span?: Api.Span) => Promise<T>, about: Attributes = {}): Promise<T> {
  const around = on?.active.getStore()
  if (on === undefined || !around?.sampled) return work()
  return run(on, start(on, name, { outer: around, about }), work)
}

/** The same for a step that ends at once. */
export function inBriefSpan(name: string, work: () => void, about: Attributes = {}): void {
  const around = on?.active.getStore()
  const span = on !== undefined && around?.sampled && start(on, name, { outer: around, about }).span
  work()
  if (span) span.end()
}

/**
 * Runs a call of a tool as a span. A client that names its trace in `_meta` has the call in it; it is linked to the request that brought
 * it, where that is of another trace.
 */
export function inCall<T>(name: string, meta: unknown, work: () => Promise<T>, about: Attributes): Promise<T> {
  if (on === undefined) return work()
  const { api } = on
  const around = on.active.getStore()
  const told = typeof meta === 'object' && meta !== null ? contextIn(on, meta as Carrier) : undefined
  const kind = around === undefined ? api.SpanKind.SERVER : api.SpanKind.INTERNAL
  if (told === undefined || api.trace.getSpanContext(told)?.traceId === around?.span.spanContext().traceId) {
    if (around?.sampled === false) return work()
    return run(on, start(on, name, { outer: around, about, kind }), work)
  }
  const links = around?.sampled ? [{ context: around.span.spanContext() }] : []
  return run(on, start(on, name, { outer: around, about, kind, links, told }), work)
}

/** A request from its first byte to its answer. */
export interface RequestSpan {
  readonly sampled: boolean
  /** Runs work for the request, which its spans then belong to. */
  within<T>(work: () => T): T
  /** Of one that went to sleep, the span has ended before. */
  end(about: Attributes, failed: boolean): void
}

export function beginRequest(name: string, headers: Carrier, about: Attributes): RequestSpan | undefined {
  if (on === undefined) return undefined
  const { api, active } = on
  const told = contextIn(on, headers)
  const open = start(on, name, { outer: undefined, about, kind: api.SpanKind.SERVER, told })
  const { span, sampled } = open
  if (!sampled && told === undefined) return on.leftOut
  return {
    sampled,
    within: (work) => active.run(open, work),
    end(about, failed) {
      if (!span.isRecording()) return
      span.setAttributes(about)
      if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** A span by itself, for what the hub does for a client that asked long ago: an event on its socket. */
export function inRoot<T>(name: string, work: () => Promise<T>, about: Attributes = {}): Promise<T> {
  if (on === undefined) return work()
  return run(on, start(on, name, { outer: undefined, about }), work)
}

/** An agent by its numbers. */
export const ofAgent = ({ id, projectId }: { readonly id: number; readonly projectId: number }): Attributes => ({
  'parley.agent.id': id,
  'parley.project.id': projectId,
})

export function noteAgent(agent: { readonly id: number; readonly projectId: number }): void {
  if (on !== undefined && isRecorded()) noteInSpan(ofAgent(agent))
}

/** Adds to the span under way. The SDK makes an error with its stack for each attribute of a span that has ended. */
export function noteInSpan(about: Attributes): void {
  const span = on?.active.getStore()?.span
  if (span?.isRecording()) span.setAttributes(about)
}

/**
 * The call goes to sleep. Its spans end here, with the wait as an event of the innermost: a span an hour long would be seen an hour late.
 * Its work once it is woken is a span of its own in the same trace.
 */
export function endForWait(ms: number): void {
  let open = on?.active.getStore()
  if (open?.span.isRecording()) open.span.addEvent('wait', { 'parley.wait.most_ms': Math.round(ms) })
  for (; open !== undefined; open = open.outer) if (open.span.isRecording()) open.span.end()
}

/** The header by which another process finds the span under way; undefined where it is not recorded. */
export function traceparent(): string | undefined {
  const open = on?.active.getStore()
  if (!open?.sampled) return undefined
  const { traceId, spanId } = open.span.spanContext()
  return `00-${traceId}-${spanId}-01`
}

/** Whether somebody will see what is added to the span under way. */
export const isRecorded = (): boolean => on?.active.getStore()?.span.isRecording() === true

/** Links the span under way to another, which a `traceparent` names. */
export function linkTo(traceparent: string): void {
  if (on === undefined) return
  const told = contextIn(on, { traceparent })
  const context = told && on.api.trace.getSpanContext(told)
  if (context !== undefined) on.active.getStore()?.span.addLink({ context })
}

export function traceId(): string | undefined {
  const span = on?.active.getStore()?.span.spanContext()
  return span !== undefined && on?.api.isSpanContextValid(span) ? span.traceId : undefined
}

/**
 * The function, run in the trace of whoever asks for this, by whomever it is called: a writer runs the units of many calls. It has no
 * trace itself, and nor has a call that is left out.
 */
export function inThisTrace<Args extends unknown[], T>(work: (...args: Args) => T): (...args: Args) => T {
  const open = on?.active.getStore()
  if (on === undefined || !open?.sampled) return work
  const { active } = on
  return (...args) => active.run(open, work, ...args)
}

/** Runs work for several calls, of which none has it in its trace. */
export const inNoTrace = <T>(work: () => T): T => (on === undefined ? work() : on.active.run(undefined, work))

interface Starting extends Api.SpanOptions {
  readonly outer: Open | undefined
  readonly about: Attributes
  /** The context that a client named: its parent, in the place of what is around it. */
  readonly told?: Api.Context | undefined
}

/** Attributes come after: as options the SDK copies them twice more. No sampler that the environment can name looks at them. */
function start({ api, tracer }: Tracing, name: string, how: Starting): Open {
  const { outer, about, told = contextOf(api, outer) } = how
  const span = tracer.startSpan(name, how, told).setAttributes(about)
  return { span, sampled: (span.spanContext().traceFlags & api.TraceFlags.SAMPLED) !== 0, outer, context: undefined }
}

async function run<T>({ api, active }: Tracing, open: Open, work: (span: Api.Span) => Promise<T>): Promise<T> {
  const { span } = open
  try {
    return await active.run(open, work, span)
  } catch (error) {
    if (span.isRecording()) {
      span.setAttribute('error.type', error instanceof HubError ? error.code : 'INTERNAL')
      span.setStatus({ code: api.SpanStatusCode.ERROR })
    }
    throw error
  } finally {
    if (span.isRecording()) span.end()
  }
}

/** In which the SDK finds the parent of a span. */
function contextOf(api: typeof Api, outer: Open | undefined): Api.Context {
  if (outer === undefined) return api.ROOT_CONTEXT
  outer.context ??= api.trace.setSpan(api.ROOT_CONTEXT, outer.span)
  return outer.context
}

/** Undefined where a carrier names no trace, as most do: to look for one costs a context. */
function contextIn({ api }: Tracing, carrier: Carrier): Api.Context | undefined {
  if (carrier.traceparent === undefined) return undefined
  const told = api.propagation.extract(api.ROOT_CONTEXT, carrier)
  return api.trace.getSpanContext(told) === undefined ? undefined : told
}
