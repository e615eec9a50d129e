/** Settings of traces. Further `OTEL_…` variables are read from the environment by OpenTelemetry itself. */
import { flag, number, oneOf, optional, text } from './kinds.ts'

const roots = ['always_on', 'always_off', 'traceidratio'] as const
const samplers = [...roots, ...roots.map((name) => `parentbased_${name}` as const)] as const

export const tracingSettings = {
  HTTP_OTEL_ENABLED: flag(false).says(
    'Whether the steps of each call are sent as OpenTelemetry traces (OTLP) to a collector. Headers and batches are set by the standard variables in the environment: `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_BSP_…`, `OTEL_RESOURCE_ATTRIBUTES`.',
  ),
  OTEL_SERVICE_NAME: text('parley').says('Name of this service in its traces.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(httpUrl).says(
    'URL of the collector that takes traces, such as `http://127.0.0.1:4318`; `/v1/traces` is added to it. Empty means port 4318 of this machine.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(httpUrl).says(
    'Whole URL to which traces are posted, instead of OTEL_EXPORTER_OTLP_ENDPOINT.',
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: oneOf(['http/protobuf', 'http/json'], 'http/protobuf').says(
    'Form in which traces are posted: http/protobuf or http/json. gRPC is not supported; collectors take both on port 4318.',
  ),
  OTEL_TRACES_SAMPLER: oneOf(samplers, 'parentbased_always_on').says(
    'Which requests are traced: always_on, always_off, or traceidratio, a share of them. With `parentbased_` before it, a request that names a trace is traced if its caller traces it.',
  ),
  OTEL_TRACES_SAMPLER_ARG: number(1, { min: 0, max: 1, whole: false }).says(
    'The share of requests that traceidratio traces: 0.01 is one in a hundred.',
  ),
}

function httpUrl(raw: string): string | undefined {
  return /^https?:$/.test(URL.parse(raw)?.protocol ?? '') ? undefined : 'must be a URL such as http://127.0.0.1:4318'
}
