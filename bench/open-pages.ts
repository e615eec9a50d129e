/** Pages that stay open: streams of hints, and asking for the page again as the browser's code does. */
import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { percentile } from './client.ts'
import type { Load } from './drive.ts'
import type { Order } from './load.ts'
import type { Row } from './rows.ts'
import { seedPages } from './seed-pages.ts'
import { type Running, startParley, startWorker } from './server.ts'
import { type Contender, cpus, ratios, served, takeTurns, walls, warmUp } from './turns.ts'

export interface Stream {
  /** Resolves with the next change. */
  next(): Promise<void>
  onChange: () => void
  close(): void
}

export async function openStream(port: number, project: string): Promise<Stream> {
  const request = get({ port, host: '127.0.0.1', path: `/mail/events?project=${project}`, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`a stream answered ${response.statusCode}`)
  let waiting: (() => void)[] = []
  const stream: Stream = {
    next: () => new Promise((resolve) => waiting.push(resolve)),
    onChange: () => {},
    close: () => request.destroy(),
  }
  response.setEncoding('utf8').on('data', (part: string) => {
    if (!part.includes('event: change')) return
    for (const resolve of waiting) resolve()
    waiting = []
    stream.onChange()
  })
  // Closed by us, or with the server.
  response.on('error', () => {})
  request.on('error', () => {})
  return stream
}

/** As assets/live.js: at most twice a second. `shown`: what the page has then. */
export async function openPage(
  port: number,
  agent: Agent,
  shown: ((text: string) => void) | undefined = undefined,
): Promise<Stream> {
  const stream = await openStream(port, 'bench')
  let [stale, busy, last] = [false, false, 0]
  const refresh = async () => {
    stale = false
    last = performance.now()
    const encoding = shown === undefined ? 'br' : 'identity'
    const headers = {
      accept: 'text/html',
      'accept-encoding': encoding,
      cookie: 'parley_visitor=bench',
      'x-parley-refresh': '1',
    }
    const request = get({ port, host: '127.0.0.1', path: '/mail/bench/threads', headers, agent })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const parts: Buffer[] = await response.toArray()
    shown?.(Buffer.concat(parts).toString())
    busy = false
    if (stale) stream.onChange()
  }
  stream.onChange = () => {
    stale = true
    if (busy) return
    busy = true
    setTimeout(() => void refresh().catch(() => {}), Math.max(0, last + 500 - performance.now()))
  }
  return stream
}

const pages = 50
/** Seconds: in each a page is asked for once. */
const slice = 0.5

interface Sends {
  readonly folder: () => string
  readonly rounds: number
}

/** Sends to a server with fifty pages open on their project, and to one without, in turns. */
export async function openedPages(alone: Running, { folder, rounds }: Sends): Promise<Row> {
  const watched = await startParley(await seedPages(folder(), { messages: 10_000, longThreads: 0 }))
  const load = startWorker<Order, Load>('load.ts')
  const agent = new Agent({ keepAlive: true })
  try {
    const open = await Promise.all(Array.from({ length: pages }, () => openPage(watched.port, agent)))
    const sends = (server: Running): Contender =>
      served(
        server,
        (seconds) => load.ask({ port: server.port, call: 'mail', era: 'plain', connections: 64, seconds }),
        { what: 'send_message', warm: 15_000, slice },
      )
    const contenders = { alone: sends(alone), watched: sends(watched) }
    await warmUp(contenders)
    const seen = await takeTurns(contenders, rounds)
    for (const page of open) page.close()
    const share = 100 * ratios(walls(seen.alone), walls(seen.watched)).median
    const rate = 1e6 / percentile(walls(seen.watched), 50)
    return {
      what: `\`send_message\` with ${pages} pages open on its project`,
      measured: `${share.toFixed(0)} % of the rate without (${Math.round(rate).toLocaleString('en')}/s), CPU ${ratios(cpus(seen.watched), cpus(seen.alone)).median.toFixed(2)} ×`,
      target: '≥ 90 %',
      reached: share >= 90,
    }
  } finally {
    agent.destroy()
    await load.stop()
    await watched.stop()
  }
}
