/** OpenTelemetry's own code, in a file of its own: only a process that traces loads it. */
import * as api from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'
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
  const exporter = counting(new Exporter(url === undefined ? {} : { url }), lost)
  const own = { 'service.name': config.OTEL_SERVICE_NAME, 'service.version': version }
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(resourceFromAttributes(own)),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  provider.register()
  const end = traceBy(api, provider.getTracer('parley', version))
  return async () => {
    end()
    await Promise.race([provider.shutdown().catch(() => {}), pause(lastMs)])
    api.trace.disable()
    api.context.disable()
    api.propagation.disable()
  }
}

function counting(exporter: SpanExporter, lost: (spans: number) => void): SpanExporter {
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code !== 0) lost(spans.length)
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}
