/** OpenTelemetry's own code, in a file of its own: only a process that traces loads it. */
import * as api from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { pause } from '../base/clock.ts'
import { traceBy } from '../base/tracing.ts'
import type { Config } from '../settings/all.ts'
import { version } from './version.ts'

/** At the end of the process, spans that wait have this long to be sent. */
const lastMs = 1000

/** `lost` is told how many spans did not reach the collector. */
export function traceBySdk(config: Config, lost: (spans: number) => void): () => Promise<void> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = config
  const url = whole ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`)
  const Exporter = config.OTEL_EXPORTER_OTLP_PROTOCOL === 'http/json' ? JsonExporter : ProtobufExporter
  const exporter = new Exporter(url === undefined ? {} : { url })
  const own = { 'service.name': config.OTEL_SERVICE_NAME, 'service.version': version }
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(resourceFromAttributes(own)),
    spanProcessors: [countingBatches(exporter, lost)],
  })
  // Spans under way are kept in base/tracing.ts, without the contexts of the SDK.
  provider.register({ contextManager: null })
  const end = traceBy(api, provider.getTracer('parley', version))
  return async () => {
    end()
    await Promise.race([provider.shutdown().catch(() => {}), pause(lastMs)])
    api.trace.disable()
    api.propagation.disable()
  }
}

/** If the environment sets none. Four times those of the SDK: fewer requests. */
const usual = { maxQueueSize: 8192, maxExportBatchSize: 2048 }

/** The SDK tells nobody of spans for which its queue has no room, nor of those that do not reach the collector. */
function countingBatches(exporter: SpanExporter, lost: (spans: number) => void): SpanProcessor {
  let queued = 0
  const counting: SpanExporter = {
    export(spans, done) {
      queued -= spans.length
      exporter.export(spans, (result) => {
        if (result.code !== 0) lost(spans.length)
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
  return {
    onStart() {},
    onEnd(span) {
      if ((span.spanContext().traceFlags & api.TraceFlags.SAMPLED) === 0) return
      if (queued >= limits.maxQueueSize) return lost(1)
      queued++
      batches.onEnd(span)
    },
    shutdown: () => batches.shutdown(),
    forceFlush: () => batches.forceFlush(),
  }
}
