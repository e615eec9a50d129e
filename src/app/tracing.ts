/** Turns tracing on where the settings say so. A thread sends the spans: to write one in the protocol's bytes takes longer than to note it. */
import { Worker } from 'node:worker_threads'
import { pause, systemClock } from '../base/clock.ts'
import { workerLimits } from '../base/heap.ts'
import type { Log } from '../base/log.ts'
import type { Metrics } from '../base/metrics.ts'
import { moduleBeside } from '../base/modules.ts'
import type { EndedSpan } from '../base/span.ts'
import { type Sampler, traceBy } from '../base/tracing.ts'
import type { Config } from '../settings/all.ts'
import type { Sending, Sent } from './tracing-thread.ts'
import { version } from './version.ts'

/** Spans are handed over together: as many, or those of so long. */
const [handedTogether, gatherMs] = [128, 50]

/** The most spans that the thread was handed and has not taken yet. */
const mostUnderWay = 8192

/** At the end of the process, spans that wait have this long to be sent. */
const lastMs = 1000

const program = moduleBeside(import.meta.url, 'tracing-thread')

interface Parts {
  readonly log: Log
  readonly metrics: Pick<Metrics, 'spansLost'>
}

/** The returned function sends what waits, and ends it. */
export async function startTracing(config: Config, parts: Parts): Promise<() => Promise<void>> {
  if (!config.HTTP_OTEL_ENABLED) return async () => {}
  const sender = startSender(config, parts)
  const endTracing = traceBy(samplerOf(config), sender.take)
  return async () => {
    endTracing()
    await sender.end()
  }
}

function startSender(config: Config, { log, metrics: { spansLost } }: Parts) {
  const thread = new Worker(program, {
    workerData: sendingOf(config),
    execArgv: [],
    resourceLimits: workerLimits,
  })
  // The process lives as long as it serves, not as long as this thread.
  thread.unref()
  const ended = Promise.withResolvers<void>()
  let isAlive = true
  let underWay = 0
  thread
    .on('message', ({ taken, lost }: Sent) => {
      underWay -= taken
      spansLost.inc(lost)
    })
    .on('error', (error) => log.error({ err: error }, 'no trace is sent any more until the next start'))
    .once('exit', () => {
      isAlive = false
      spansLost.inc(underWay)
      ended.resolve()
    })

  let gathered: string[] = []
  let cancel: (() => void) | undefined
  const handOver = () => {
    cancel?.()
    cancel = undefined
    if (!isAlive || underWay > mostUnderWay) spansLost.inc(gathered.length)
    else {
      underWay += gathered.length
      thread.postMessage(`[${gathered.join()}]`)
    }
    gathered = []
  }
  return {
    take(span: EndedSpan): void {
      // As text, at once: objects would be copied one by one, and until then outlive a collection.
      gathered.push(JSON.stringify(span))
      if (gathered.length === handedTogether) handOver()
      else cancel ??= systemClock.after(gatherMs, handOver)
    },
    async end(): Promise<void> {
      handOver()
      thread.postMessage('end')
      await Promise.race([ended.promise, pause(lastMs)])
      await thread.terminate()
    },
  }
}

function sendingOf(config: Config): Sending {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: whole } = config
  return {
    url: whole ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`),
    protocol: config.OTEL_EXPORTER_OTLP_PROTOCOL,
    service: config.OTEL_SERVICE_NAME,
    version,
  }
}

type SamplerSettings = Pick<Config, 'OTEL_TRACES_SAMPLER' | 'OTEL_TRACES_SAMPLER_ARG'>

/** By OpenTelemetry's names. */
export function samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share }: SamplerSettings): Sampler {
  const isKept = name.endsWith('traceidratio')
    ? (traceId: string) => chanceOf(traceId) < Number(share)
    : () => name.endsWith('always_on')
  return name.startsWith('parentbased_') ? (traceId, parent) => parent?.sampled ?? isKept(traceId) : isKept
}

/** From 0 to below 1, as OpenTelemetry's SDK has it: with the same share, its services and Parley keep the same traces. */
function chanceOf(traceId: string): number {
  let sum = 0
  for (let at = 0; at < 32; at += 8) sum ^= Number.parseInt(traceId.slice(at, at + 8), 16)
  return (sum >>> 0) / 2 ** 32
}
