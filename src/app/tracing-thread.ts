/** The thread that sends the spans of a process to its collector, by OpenTelemetry's own code: only a process that traces loads it. */
import { parentPort, workerData } from 'node:worker_threads'
import { createTraceState, type Link, SpanKind, type SpanStatus, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-node'
import { systemClock } from '../base/clock.ts'
import { giveBackAtRest } from '../base/heap.ts'
import type { Attributes, EndedSpan, SpanContext } from '../base/span.ts'

/** Where spans are sent, and as whose. */
export interface Sending {
  readonly url: string | undefined
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly service: string
  readonly version: string
}

/** Told to the process: how many spans came, and how many did not reach the collector. */
export interface Sent {
  readonly taken: number
  readonly lost: number
}

const { url, protocol, service, version } = workerData as Sending
const port = parentPort
if (port === null) throw new Error('tracing-thread.ts runs as a thread of a server')

// Spans that waited for a collector leave room behind.
giveBackAtRest(systemClock)

const tell = (sent: Sent): void => port.postMessage(sent)

const resource = defaultResource()
  .merge(detectResources({ detectors: [envDetector] }))
  .merge(resourceFromAttributes({ 'service.name': service, 'service.version': version }))
const scope = { name: 'parley', version }

const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter
const exporter = new Exporter(url === undefined ? {} : { url })

/** If the environment sets none. Four times those of the SDK: fewer requests. */
const usual = { maxQueueSize: 8192, maxExportBatchSize: 2048 }

/** The SDK tells nobody of spans for which its queue has no room, nor of those that do not reach the collector. */
let queued = 0
const counting: SpanExporter = {
  export(spans, done) {
    queued -= spans.length
    exporter.export(spans, (result) => {
      if (result.code !== 0) tell({ taken: 0, lost: spans.length })
      done(result)
    })
  },
  shutdown: () => exporter.shutdown(),
  forceFlush: async () => exporter.forceFlush?.(),
}
// The SDK writes into it what the environment sets.
const set: Partial<typeof usual> = {}
new BatchSpanProcessor(counting, set)
const limits = { ...usual, ...set }
const batches = new BatchSpanProcessor(counting, limits)

/** Spans as JSON, a list of them at a time; or `end`. */
port.on('message', (message: string) => {
  if (message === 'end') return void end()
  const spans = JSON.parse(message) as EndedSpan[]
  const room = Math.max(0, limits.maxQueueSize - queued)
  for (const span of spans.slice(0, room)) {
    queued++
    batches.onEnd(new Received(span))
  }
  tell({ taken: spans.length, lost: Math.max(0, spans.length - room) })
})

async function end(): Promise<void> {
  await batches.shutdown().catch(() => {})
  port?.close()
}

/** A span as the SDK hands it to exporters. Times and ids are put into its form when they ask: spans that wait for their batch stay small. */
class Received implements ReadableSpan {
  readonly name: string
  readonly kind: SpanKind
  readonly status: SpanStatus
  readonly attributes: Attributes
  readonly ended = true
  readonly resource = resource
  readonly instrumentationScope = scope
  readonly droppedAttributesCount = 0
  readonly droppedEventsCount = 0
  readonly droppedLinksCount = 0
  readonly #context: SpanContext
  readonly #parentId: string | undefined
  readonly #isRemote: boolean
  readonly #startMs: number
  readonly #endMs: number
  readonly #events: EndedSpan['11']
  readonly #links: EndedSpan['12']

  constructor([
    traceId,
    spanId,
    state,
    parentId,
    isRemote,
    name,
    serves,
    startMs,
    endMs,
    failed,
    attributes,
    events,
    links,
  ]: EndedSpan) {
    this.name = name
    this.kind = serves ? SpanKind.SERVER : SpanKind.INTERNAL
    this.status = failed ? failedStatus : unsetStatus
    this.attributes = attributes
    this.#context = { traceId, spanId, state, sampled: true }
    this.#parentId = parentId
    this.#isRemote = isRemote
    this.#startMs = startMs
    this.#endMs = endMs
    this.#events = events
    this.#links = links
  }

  spanContext() {
    return contextOf(this.#context)
  }

  get parentSpanContext() {
    return { ...contextOf({ ...this.#context, spanId: this.#parentId ?? '' }), isRemote: this.#isRemote }
  }

  get startTime() {
    return inSeconds(this.#startMs)
  }

  get endTime() {
    return inSeconds(this.#endMs)
  }

  get duration() {
    return inSeconds(this.#endMs - this.#startMs)
  }

  get events() {
    return (this.#events ?? []).map(({ name, ms, attributes }) => ({ name, attributes, time: inSeconds(ms) }))
  }

  get links() {
    return (this.#links ?? []).map((context): Link => ({ context: contextOf(context) }))
  }
}

const failedStatus = { code: SpanStatusCode.ERROR }
const unsetStatus = { code: SpanStatusCode.UNSET }

const contextOf = ({ traceId, spanId, sampled, state }: SpanContext) => ({
  traceId,
  spanId,
  traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  ...(state && { traceState: createTraceState(state) }),
})

/** Whole seconds, and the nanoseconds past them. */
const inSeconds = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)]
