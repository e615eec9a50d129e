/** Spans: a step of a call from its beginning to its end, under the ids by which W3C's `traceparent` names it to other processes. */
import { randomFillSync } from 'node:crypto'

/** Headers or `_meta`: where a client writes the trace that its request belongs to. */
export type Carrier = Readonly<Record<string, unknown>>

/** Numbers, and words of Parley's own: never a body, a subject, a token, a query, or the name of an agent or a project (serve.traces.content). */
export type Attributes = Readonly<Record<string, string | number | boolean>>

/** By it, spans of this process and of others find each other. */
export interface SpanContext {
  readonly traceId: string
  readonly spanId: string
  /** Whether spans of this trace are kept. */
  readonly sampled: boolean
  /** The client's `tracestate`: words of systems that trace, passed on as they came. */
  readonly state?: string | undefined
}

/** A span that has ended, as it is handed to the sender (app/tracing.ts). A list: with names in it, it would be half as long again. */
export type EndedSpan = readonly [
  traceId: string,
  spanId: string,
  state: string | undefined,
  parentId: string | undefined,
  /** Whether the parent is a span of another process. */
  isRemote: boolean,
  name: string,
  /** Whether it answers a client; else it is a step within. */
  serves: boolean,
  startMs: number,
  endMs: number,
  failed: boolean,
  attributes: Attributes,
  events: readonly SpanEvent[] | undefined,
  links: readonly SpanContext[] | undefined,
]

export interface SpanEvent {
  readonly name: string
  readonly ms: number
  readonly attributes: Attributes
}

interface Beginning {
  readonly name: string
  readonly about: Attributes
  readonly serves?: boolean | undefined
  readonly traceId: string
  readonly sampled: boolean
  readonly parent: SpanContext | undefined
  /** The span that runs around it in this process. */
  readonly outer: Span | undefined
  readonly links?: readonly SpanContext[] | undefined
}

/** As many as OpenTelemetry's limit: a call may take as many messages. */
const mostLinks = 128

export class Span implements SpanContext {
  readonly traceId: string
  readonly spanId = randomHex(8)
  readonly sampled: boolean
  readonly state: string | undefined
  readonly outer: Span | undefined
  readonly #parent: SpanContext | undefined
  readonly #name: string
  readonly #serves: boolean
  readonly #startMs: number
  /** The time of day at which the process began, the same for all spans of a call: a clock that is set tears none apart. */
  readonly #zeroMs: number
  #attributes: Attributes
  #events: SpanEvent[] | undefined
  #links: SpanContext[] | undefined
  #failed = false
  #ended: boolean

  constructor({ name, about, serves = false, traceId, sampled, parent, outer, links }: Beginning) {
    this.traceId = traceId
    this.sampled = sampled
    this.outer = outer
    this.#name = name
    this.#serves = serves
    this.#parent = parent
    this.state = parent?.state
    this.#zeroMs = outer === undefined ? Date.now() - performance.now() : outer.#zeroMs
    this.#startMs = this.#now()
    this.#attributes = about
    this.#links = links && [...links]
    this.#ended = !sampled
  }

  /** Whether somebody will see what is added: it is sampled, and has not ended. */
  get isRecording(): boolean {
    return !this.#ended
  }

  note(about: Attributes): void {
    this.#attributes = { ...this.#attributes, ...about }
  }

  addEvent(name: string, attributes: Attributes): void {
    this.#events = [...(this.#events ?? []), { name, ms: this.#now(), attributes }]
  }

  link(context: SpanContext): void {
    this.#links ??= []
    if (this.#links.length < mostLinks) this.#links.push(context)
  }

  fail(): void {
    this.#failed = true
  }

  end(): EndedSpan {
    this.#ended = true
    return [
      this.traceId,
      this.spanId,
      this.state,
      this.#parent?.spanId,
      this.#parent !== this.outer,
      this.#name,
      this.#serves,
      this.#startMs,
      this.#now(),
      this.#failed,
      this.#attributes,
      this.#events,
      this.#links,
    ]
  }

  #now(): number {
    return this.#zeroMs + performance.now()
  }
}

/** Drawn ahead: a call to the system for each id would take longer than all else of a span. */
const drawn = Buffer.alloc(8192)
let used = drawn.length

export function randomHex(bytes: number): string {
  if (used + bytes > drawn.length) {
    randomFillSync(drawn)
    used = 0
  }
  used += bytes
  return drawn.toString('hex', used - bytes, used)
}

/** Of later versions, what this one knows of (https://www.w3.org/TR/trace-context/#versioning-of-traceparent). */
const pattern = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/

/** Of headers, or of `_meta`; undefined where they name no span. */
export function readContext({ traceparent, tracestate }: Carrier): SpanContext | undefined {
  const context = readTraceparent(traceparent)
  return context && typeof tracestate === 'string' ? { ...context, state: tracestate } : context
}

/** Undefined where it names no span. */
export function readTraceparent(text: unknown): SpanContext | undefined {
  const [, version, traceId, spanId, flags, rest] = (typeof text === 'string' && pattern.exec(text)) || []
  if (traceId === undefined || spanId === undefined || (version === '00' && rest !== undefined)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags ?? '', 16) & 1) === 1 }
}

export const writeTraceparent = ({ traceId, spanId, sampled }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${Number(sampled)}`
