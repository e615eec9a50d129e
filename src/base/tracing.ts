/** Traces: the steps of a call as spans, where tracing is on. Else a step costs one comparison. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { HubError } from './errors.ts'
import {
  type Attributes,
  type Carrier,
  type EndedSpan,
  randomHex,
  readContext,
  readTraceparent,
  Span,
  type SpanContext,
  writeTraceparent,
} from './span.ts'

/** Whether a trace is kept that begins here, or with the span of a client (OTEL_TRACES_SAMPLER). */
export type Sampler = (traceId: string, parent: SpanContext | undefined) => boolean

interface Tracing {
  readonly isSampled: Sampler
  /** Called with each span as it ends. */
  readonly take: (span: EndedSpan) => void
  /** The span of whatever runs. */
  readonly active: AsyncLocalStorage<Span | undefined>
  /** Of every request that the sampler left out and no client asked for: its steps begin no spans. */
  readonly leftOut: RequestSpan
}

let on: Tracing | undefined

/** Traces this process from now on, until the returned function is called. */
export function traceBy(isSampled: Sampler, take: (span: EndedSpan) => void): () => void {
  const active = new AsyncLocalStorage<Span | undefined>()
  const none = new Span({ name: '', about: {}, traceId: '', sampled: false, parent: undefined, outer: undefined })
  on = { isSampled, take, active, leftOut: { sampled: false, within: (work) => active.run(none, work), end() {} } }
  return () => {
    on = undefined
  }
}

export const isTracing = (): boolean => on !== undefined

/** Whether steps of what runs have spans: asked first where even what a span would say costs something. */
export const isTraced = (): boolean => on?.active.getStore()?.sampled === true

/** Runs a step of a call as a span of its own. What no client asked for has none: the background would fill the store of traces. */
export function inSpan<T>(name: string, work: (span?: Span) => Promise<T>, about: Attributes = {}): Promise<T> {
  const outer = on?.active.getStore()
  if (on === undefined || !outer?.sampled) return work()
  return run(on, begin(on, { name, about, outer }), work)
}

/** The same for a step that ends at once. */
export function inBriefSpan(name: string, work: () => void, about: Attributes = {}): void {
  const outer = on?.active.getStore()
  const span = on !== undefined && outer?.sampled && begin(on, { name, about, outer })
  work()
  if (span) on?.take(span.end())
}

/**
 * Runs a call of a tool as a span. A client that names its trace in `_meta` has the call in it; it is linked to the request that brought
 * it, where that is of another trace.
 */
export function inCall<T>(name: string, meta: unknown, work: () => Promise<T>, about: Attributes): Promise<T> {
  if (on === undefined) return work()
  const outer = on.active.getStore()
  const told = typeof meta === 'object' && meta !== null ? readContext(meta as Carrier) : undefined
  const serves = outer === undefined
  if (told === undefined || told.traceId === outer?.traceId) {
    if (outer?.sampled === false) return work()
    return run(on, begin(on, { name, about, outer, serves }), work)
  }
  const links = outer?.sampled ? [contextOf(outer)] : undefined
  return run(on, begin(on, { name, about, outer, serves, links, told }), work)
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
  const { active, take } = on
  const told = readContext(headers)
  const span = begin(on, { name, about, outer: undefined, serves: true, told })
  if (!span.sampled && told === undefined) return on.leftOut
  return {
    sampled: span.sampled,
    within: (work) => active.run(span, work),
    end(about, failed) {
      if (!span.isRecording) return
      span.note(about)
      if (failed) span.fail()
      take(span.end())
    },
  }
}

/** A span by itself, for what the hub does for a client that asked long ago: an event on its socket. */
export function inRoot<T>(name: string, work: () => Promise<T>, about: Attributes = {}): Promise<T> {
  if (on === undefined) return work()
  return run(on, begin(on, { name, about, outer: undefined }), work)
}

/** An agent by its numbers. */
export const ofAgent = ({ id, projectId }: { readonly id: number; readonly projectId: number }): Attributes => ({
  'parley.agent.id': id,
  'parley.project.id': projectId,
})

export function noteAgent(agent: { readonly id: number; readonly projectId: number }): void {
  if (on !== undefined && isRecorded()) noteInSpan(ofAgent(agent))
}

/** Adds to the span under way. */
export function noteInSpan(about: Attributes): void {
  const span = on?.active.getStore()
  if (span?.isRecording) span.note(about)
}

/**
 * The call goes to sleep. Its spans end here, with the wait as an event of the innermost: a span an hour long would be seen an hour late.
 * Its work once it is woken is a span of its own in the same trace.
 */
export function endForWait(ms: number): void {
  let span = on?.active.getStore()
  if (span?.isRecording) span.addEvent('wait', { 'parley.wait.most_ms': Math.round(ms) })
  for (; span !== undefined; span = span.outer) if (span.isRecording) on?.take(span.end())
}

/** The header by which another process finds the span under way; undefined where it is not sampled. */
export function traceparent(): string | undefined {
  const span = on?.active.getStore()
  return span?.sampled ? writeTraceparent(span) : undefined
}

/** Whether somebody will see what is added to the span under way. */
export const isRecorded = (): boolean => on?.active.getStore()?.isRecording === true

/** Links the span under way to another, which a `traceparent` names. */
export function linkTo(traceparent: string): void {
  const context = readTraceparent(traceparent)
  if (context !== undefined) on?.active.getStore()?.link(context)
}

export const traceId = (): string | undefined => on?.active.getStore()?.traceId || undefined

/**
 * The function, run in the trace of whoever asks for this, by whomever it is called: a writer runs the units of many calls. It has no
 * trace itself, and nor has a call that is left out.
 */
export function inThisTrace<Args extends unknown[], T>(work: (...args: Args) => T): (...args: Args) => T {
  const span = on?.active.getStore()
  if (on === undefined || !span?.sampled) return work
  const { active } = on
  return (...args) => active.run(span, work, ...args)
}

/** Runs work for several calls, of which none has it in its trace. */
export const inNoTrace = <T>(work: () => T): T => (on === undefined ? work() : on.active.run(undefined, work))

interface Step {
  readonly name: string
  readonly about: Attributes
  readonly outer: Span | undefined
  readonly serves?: boolean
  readonly links?: readonly SpanContext[] | undefined
  /** The span that a client named: its parent, in the place of the one around it. */
  readonly told?: SpanContext | undefined
}

function begin({ isSampled }: Tracing, { name, about, outer, serves, links, told }: Step): Span {
  const parent = told ?? outer
  const traceId = parent?.traceId ?? randomHex(16)
  const sampled = told === undefined && outer !== undefined ? outer.sampled : isSampled(traceId, told)
  return new Span({ name, about, outer, serves, links, traceId, sampled, parent })
}

async function run<T>({ active, take }: Tracing, span: Span, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await active.run(span, work, span)
  } catch (error) {
    if (span.isRecording) {
      span.note({ 'error.type': error instanceof HubError ? error.code : 'INTERNAL' })
      span.fail()
    }
    throw error
  } finally {
    if (span.isRecording) take(span.end())
  }
}

const contextOf = ({ traceId, spanId, sampled }: Span): SpanContext => ({ traceId, spanId, sampled })
