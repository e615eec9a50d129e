/** Settings of traces. Variables of headers, batches, resources and certificates are read from the environment by OpenTelemetry itself. */
import { flag, oneOf, optional, text } from './kinds.ts'

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
  OTEL_TRACES_SAMPLER: text('parentbased_always_on').says(
    'Which requests are traced: always_on, always_off, or traceidratio, a share of them. With `parentbased_` before it, a request that names a trace is traced if its caller traces it.',
  ),
  OTEL_TRACES_SAMPLER_ARG: text('1').says('The share of requests that traceidratio traces: 0.01 is one in a hundred.'),
}

function httpUrl(raw: string): string | undefined {
  return /^https?:$/.test(URL.parse(raw)?.protocol ?? '') ? undefined : 'must be a URL such as http://127.0.0.1:4318'
}

const samplers = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`])

interface SamplerSettings {
  readonly OTEL_TRACES_SAMPLER: string
  readonly OTEL_TRACES_SAMPLER_ARG: string
}

/** Judged where Parley traces: other programs of a machine may share the environment, and have samplers that Parley has not. */
export function* faultsOfSampler({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share }: SamplerSettings) {
  if (!samplers.includes(name)) yield `OTEL_TRACES_SAMPLER must be one of ${samplers.join(', ')}`
  const isShare = /\d/.test(share) && Number(share) >= 0 && Number(share) <= 1
  if (name.endsWith('traceidratio') && !isShare) yield 'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1'
}
