/** A small collector: takes traces over HTTP as OTLP in JSON, and shows the spans that came. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type Later, onTestEnd } from './parley.ts'

export interface Span {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly links: readonly { traceId: string; spanId: string }[]
  readonly events: readonly string[]
  readonly attributes: Readonly<Record<string, unknown>>
  readonly ms: number
}

interface Pair {
  readonly key: string
  readonly value: Record<string, unknown>
}

interface WireSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  links?: { traceId: string; spanId: string }[]
  events?: { name: string }[]
  attributes?: Pair[]
}

interface Export {
  resourceSpans: { resource: { attributes: Pair[] }; scopeSpans: { spans: WireSpan[] }[] }[]
}

/** `status`: the answer to each batch. */
export async function startCollector({ status = 200, later = onTestEnd as Later } = {}) {
  const batches: string[] = []
  const headers: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    headers.push({ ...request.headers, path: request.url })
    batches.push(await text(request))
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  later(async () => {
    server.closeAllConnections()
    server.close()
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    env: {
      HTTP_OTEL_ENABLED: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    },
    headers,
    /** All that was received, word for word. */
    received: () => batches.join('\n'),
    spans: (): Span[] => batches.flatMap((batch) => spansIn(JSON.parse(batch) as Export)),
  }
}

const spansIn = ({ resourceSpans }: Export): Span[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ links = [], events = [], attributes = [], ...span }) => ({
        service: String(valuesOf(resource.attributes)['service.name']),
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId || undefined,
        links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
        events: events.map(({ name }) => name),
        attributes: valuesOf(attributes),
        ms: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
      })),
    ),
  )

const valuesOf = (pairs: readonly Pair[]): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]))
