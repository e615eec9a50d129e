/** Measures of seeing into a server: what traces cost a call, how long a scrape of the metrics takes and holds others up. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { openClient, percentile } from './client.ts'
import type { Load } from './drive.ts'
import type { Order } from './load.ts'
import type { Row } from './rows.ts'
import { type Running, rested, start, startParley, startWorker } from './server.ts'
import { coldCalls, cpus, ratios, served, takeTurns, walls, warmUp } from './turns.ts'

const connections = 64

/** A collector that takes every trace and keeps none, in a process of its own. */
const collector = `
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
  process.on('SIGTERM', () => process.exit(0))`

export async function traceRows(folder: () => string, rounds: number, say: (text: string) => void): Promise<Row[]> {
  say('traces')
  const sink = await start(
    spawn(process.execPath, ['-e', collector], { stdio: ['ignore', 'pipe', 'inherit'] }),
    /(\d+)/,
  )
  const traced = (share: string) => ({
    HTTP_OTEL_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${sink.port}`,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: share,
  })
  const servers: Record<string, Running> = {
    off: await startParley(folder()),
    all: await startParley(folder(), traced('1')),
    few: await startParley(folder(), traced('0.01')),
  }
  const load = startWorker<Order, Load>('load.ts')
  const call = (server: Running | undefined, warm: number) => {
    if (server === undefined) throw new Error('no server')
    const run = (seconds: number) =>
      load.ask({
        port: server.port,
        call: 'sendAsOne',
        era: 'plain',
        connections,
        seconds,
        agent: 'local',
        headers: {},
      })
    return served(server, run, { what: 'send_to_agent', warm })
  }
  try {
    const contenders = {
      off: call(servers.off, coldCalls),
      again: call(servers.off, 0),
      all: call(servers.all, coldCalls),
      few: call(servers.few, coldCalls),
    }
    await warmUp(contenders)
    const seen = await takeTurns(contenders, rounds)
    const line = (name: 'all' | 'few', what: string, target: number): Row => {
      const reached = ratios(walls(seen.off), walls(seen[name]))
      const used = ratios(cpus(seen[name]), cpus(seen.off)).median
      return {
        what: `\`send_to_agent\`, ${what}, against none`,
        measured: `${(100 * reached.median).toFixed(0)} % of the rate (${(100 * reached.low).toFixed(0)}–${(100 * reached.high).toFixed(0)}), CPU ${used.toFixed(2)} ×`,
        target: `≥ ${target} %`,
        reached: 100 * reached.median >= target,
        noise: `${ratios(walls(seen.off), walls(seen.again)).median.toFixed(2)} ×`,
      }
    }
    return [line('all', 'every call traced', 80), line('few', 'one call in a hundred traced', 97)]
  } finally {
    await load.stop()
    await Promise.all(Object.values(servers).map((server) => server.stop()))
    await sink.stop()
  }
}

const scrapes = 50
const waiting = 1000

/** `storage` is that of makeMailStore (mail.ts). */
export async function scrapeRows(storage: string, messages: number, say: (text: string) => void): Promise<Row[]> {
  say('scrapes of the metrics')
  const parley = await startParley(storage)
  const url = `http://127.0.0.1:${parley.port}`
  const timed = async (path: string): Promise<number> => {
    const began = performance.now()
    const response = await fetch(url + path)
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    return performance.now() - began
  }
  /** Asks for its health all the time while `work` goes on. */
  const healthWhile = async (work: Promise<unknown>): Promise<number> => {
    const times: number[] = []
    let going = true
    const done = work.finally(() => {
      going = false
    })
    while (going) {
      times.push(await timed('/health/readiness'))
      await sleep(2)
    }
    await done
    return percentile(times, 99)
  }
  const clients = await Promise.all(Array.from({ length: waiting }, (_, n) => openClient(parley.port, `waiter-${n}`)))
  try {
    const answers = clients.map((client) => client.call('check_mail', { wait_seconds: 49 }))
    void Promise.allSettled(answers)
    await rested(parley.pid)
    for (let n = 0; n < 20; n++) await timed('/metrics')
    const calm = await healthWhile(sleep(3000))
    const times: number[] = []
    const beside = await healthWhile(
      (async () => {
        for (let n = 0; n < scrapes; n++) {
          times.push(await timed('/metrics'))
          await sleep(40)
        }
      })(),
    )
    const p99 = percentile(times, 99)
    return [
      {
        what: `\`/metrics\` with ${messages.toLocaleString('en')} messages and ${waiting.toLocaleString('en')} waiters`,
        measured: `${percentile(times, 50).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
        target: '≤ 20 ms',
        reached: p99 <= 20,
      },
      {
        what: '`/health/readiness` beside a scrape every 40 ms, p99',
        measured: `${beside.toFixed(1)} ms (without ${calm.toFixed(1)} ms)`,
        target: 'unmoved',
        reached: beside <= calm + 2,
      },
    ]
  } finally {
    for (const client of clients) client.close()
    await parley.stop()
  }
}
