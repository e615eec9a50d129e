/** Traces: the steps of a call as spans, where tracing is on. Else no code of OpenTelemetry is loaded, and a step costs one comparison. */
import type * as Api from '@opentelemetry/api'
import { HubError } from './errors.ts'

/** Numbers, and words of Parley's own: never a body, a subject, a token, a query, or the name of an agent or a project (serve.traces.content). */
type Attributes = Readonly<Record<string, string | number | boolean>>

/** Headers or `_meta`: where a client writes the trace that its request belongs to. */
type Carrier = Readonly<Record<string, unknown>>

/** A span under way, and those around it. */
interface Open {
  readonly span: Api.Span
  readonly outer: Open | undefined
}

interface Tracing {
  readonly api: typeof Api
  readonly tracer: Api.Tracer
  /** The key of `Open` in a context. */
  readonly open: symbol
  /** Of every request that the sampler left out and no client asked for: its steps begin no spans. */
  readonly leftOut: RequestSpan
}

let on: Tracing | undefined

/** Traces this process from now on, until the returned function is called. */
export function traceBy(api: typeof Api, tracer: Api.Tracer): () => void {
  const unsampled = api.trace.setSpan(api.ROOT_CONTEXT, api.trace.wrapSpanContext(api.INVALID_SPAN_CONTEXT))
  const leftOut: RequestSpan = { within: (work) => api.context.with(unsampled, work), end() {} }
  on = { api, tracer, open: api.createContextKey('parley.open'), leftOut }
  return () => {
    on = undefined
  }
}

export const isTracing = (): boolean => on !== undefined

/** Runs a step of a call as a span of its own. What no client asked for has none: the background would fill the store of traces. */
export function inSpan<T>(name: string, work: (span?: Api.Span) => Promise<T>, about?: Attributes): Promise<T> {
  if (on === undefined || !isSampled(on.api.trace.getActiveSpan())) return work()
  return run(on, start(on, name, { attributes: { ...about } }), work)
}

/** The same for a step that ends at once. */
export function inBriefSpan(name: string, work: () => void, about?: Attributes): void {
  const span =
    on !== undefined && isSampled(on.api.trace.getActiveSpan()) && start(on, name, { attributes: { ...about } }).span
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
  const around = api.trace.getActiveSpan()
  const carrier = typeof meta === 'object' && meta !== null ? (meta as Carrier) : {}
  if (around !== undefined && !isSampled(around) && carrier.traceparent === undefined) return work()
  const told = contextOf(on, carrier)
  const parent = api.trace.getSpanContext(told)
  const kind = around === undefined ? api.SpanKind.SERVER : api.SpanKind.INTERNAL
  const attributes = { ...about }
  if (parent === undefined || parent.traceId === around?.spanContext().traceId)
    return run(on, start(on, name, { kind, attributes }), work)
  const links = isSampled(around) ? [{ context: around.spanContext() }] : []
  return run(on, start(on, name, { kind, attributes, links }, told), work)
}

/** A request from its first byte to its answer. */
export interface RequestSpan {
  /** Runs work for the request, which its spans then belong to. */
  within<T>(work: () => T): T
  /** Of one that went to sleep, the span has ended before. */
  end(about: Attributes, failed: boolean): void
}

export function beginRequest(name: string, headers: Carrier, about: Attributes): RequestSpan | undefined {
  if (on === undefined) return undefined
  const { api } = on
  const options = { kind: api.SpanKind.SERVER, attributes: { ...about } }
  const told = contextOf(on, headers)
  const { span, context } = start(on, name, options, told)
  if (!isSampled(span) && told === api.ROOT_CONTEXT) return on.leftOut
  return {
    within: (work) => api.context.with(context, work),
    end(about, failed) {
      if (!span.isRecording()) return
      span.setAttributes({ ...about })
      if (failed) span.setStatus({ code: api.SpanStatusCode.ERROR })
      span.end()
    },
  }
}

/** A span by itself, for what the hub does for a client that asked long ago: an event on its socket. */
export function inRoot<T>(name: string, work: () => Promise<T>, about?: Attributes): Promise<T> {
  if (on === undefined) return work()
  return run(on, start(on, name, { attributes: { ...about } }, on.api.ROOT_CONTEXT), work)
}

/** An agent by its numbers. */
export const ofAgent = ({ id, projectId }: { readonly id: number; readonly projectId: number }): Attributes => ({
  'parley.agent.id': id,
  'parley.project.id': projectId,
})

export function noteAgent(agent: { readonly id: number; readonly projectId: number }): void {
  if (on !== undefined) noteInSpan(ofAgent(agent))
}

/** Adds to the span under way. */
export function noteInSpan(about: Attributes): void {
  on?.api.trace.getActiveSpan()?.setAttributes({ ...about })
}

/**
 * The call goes to sleep. Its spans end here, with the wait as an event of the innermost: a span an hour long would be seen an hour late.
 * Its work once it is woken is a span of its own in the same trace.
 */
export function endForWait(ms: number): void {
  if (on === undefined) return
  let open = on.api.context.active().getValue(on.open) as Open | undefined
  open?.span.addEvent('wait', { 'parley.wait.most_ms': Math.round(ms) })
  for (; open !== undefined; open = open.outer) if (open.span.isRecording()) open.span.end()
}

/** The header by which another process finds the span under way; undefined where it is not recorded. */
export function traceparent(): string | undefined {
  if (on === undefined) return undefined
  const span = on.api.trace.getActiveSpan()
  if (!isSampled(span)) return undefined
  const { traceId, spanId } = span.spanContext()
  return `00-${traceId}-${spanId}-01`
}

/** Whether somebody will see what is added to the span under way. */
export const isRecorded = (): boolean => on?.api.trace.getActiveSpan()?.isRecording() === true

/** Links the span under way to another, which a `traceparent` names. */
export function linkTo(traceparent: string): void {
  if (on === undefined) return
  const context = on.api.trace.getSpanContext(contextOf(on, { traceparent }))
  if (context !== undefined) on.api.trace.getActiveSpan()?.addLink({ context })
}

export function traceId(): string | undefined {
  if (on === undefined) return undefined
  const span = on.api.trace.getActiveSpan()?.spanContext()
  return span !== undefined && on.api.isSpanContextValid(span) ? span.traceId : undefined
}

/** The function, run in the trace of whoever asks for this, by whomever it is called: a writer runs the units of many calls. */
export const inThisTrace = <F extends (...args: never[]) => unknown>(work: F): F =>
  on === undefined ? work : on.api.context.bind(on.api.context.active(), work)

/** Runs work for several calls, of which none has it in its trace. */
export const inNoTrace = <T>(work: () => T): T =>
  on === undefined ? work() : on.api.context.with(on.api.ROOT_CONTEXT, work)

function start({ api, tracer, open }: Tracing, name: string, options: Api.SpanOptions, parent = api.context.active()) {
  const span = tracer.startSpan(name, options, parent)
  const opened: Open = { span, outer: parent.getValue(open) as Open | undefined }
  return { span, context: api.trace.setSpan(parent, span).setValue(open, opened) }
}

async function run<T>(
  { api }: Tracing,
  { span, context }: { span: Api.Span; context: Api.Context },
  work: (span: Api.Span) => Promise<T>,
): Promise<T> {
  try {
    return await api.context.with(context, () => work(span))
  } catch (error) {
    span.setAttribute('error.type', error instanceof HubError ? error.code : 'INTERNAL')
    span.setStatus({ code: api.SpanStatusCode.ERROR })
    throw error
  } finally {
    if (span.isRecording()) span.end()
  }
}

const contextOf = ({ api }: Tracing, carrier: Carrier): Api.Context =>
  api.propagation.extract(api.ROOT_CONTEXT, carrier)

/** Asked of the flags, not whether it records: one that ended for a wait does not. */
const isSampled = (span: Api.Span | undefined): span is Api.Span =>
  span !== undefined && (span.spanContext().traceFlags & 1) === 1
