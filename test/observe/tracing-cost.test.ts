/** The cost of tracing for servers that do not trace, and for one whose collector is away. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, vi } from 'vitest'
import { startTracing } from '../../src/app/tracing.ts'
import { relayLog } from '../../src/base/log.ts'
import { createMetrics } from '../../src/base/metrics.ts'
import { inRoot } from '../../src/base/tracing.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { startCollector } from '../support/otlp.ts'
import { bareEnv, mailbox, serveLogged, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

/** A setting that only the SDK knows: a file with it holds its code. */
const ofSdk = 'OTEL_BSP_MAX_QUEUE_SIZE'

/** The files of Parley that a server has loaded once it has answered a call. */
async function loadedWith(env: Record<string, string>): Promise<string[]> {
  const storage = await temporaryFolder()
  const hook = new URL('../fixtures/note-loaded.js', import.meta.url)
  const noted = join(storage, 'loaded')
  const node = { NODE_OPTIONS: `--import=${hook}`, NOTE_LOADED: noted }
  const parley = await startParley({ storage, env: { ...node, ...env } })
  await mailbox(parley, 'alice').send('bob', 'hello')
  expect(await parley.end()).toBe(0)
  return readFileSync(noted, 'utf8')
    .split('\n')
    .filter((url) => url.startsWith('file:'))
}

const lostIn = (metrics: string): number => Number(/^parley_spans_lost_total (\d+)$/m.exec(metrics)?.[1])

const holdsSdk = (url: string): boolean => readFileSync(fileURLToPath(url), 'utf8').includes(ofSdk)

verifies('serve.traces.off', 'the SDK is loaded by a server that traces, and by no other', async () => {
  const collector = await startCollector()
  const [off, on] = await Promise.all([loadedWith({}), loadedWith(collector.env)])
  expect(off.length).toBeGreaterThan(3)
  expect(off.filter((url) => url.includes('@opentelemetry') || holdsSdk(url))).toEqual([])
  expect(on.filter(holdsSdk)).toHaveLength(1)
  expect(collector.spans().length).toBeGreaterThan(0)
})

verifies('serve.traces.away', 'spans for which the queue has no room are counted too', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    silent.close()
  })
  const { port } = silent.address() as AddressInfo
  vi.stubEnv('OTEL_BSP_MAX_QUEUE_SIZE', '10')
  const metrics = createMetrics()
  const settings = { HTTP_OTEL_ENABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` }
  const config = loadConfig(bareEnv(await temporaryFolder(), settings))
  const end = await startTracing(config, { log: relayLog('silent', () => {}), metrics })
  for (let n = 0; n < 30; n++) await inRoot('call', async () => {})
  // Ten wait, and ten at most are on their way.
  await expect.poll(() => metrics.meters.text().then(lostIn)).toBeGreaterThanOrEqual(10)
  const since = performance.now()
  await end()
  // A stop waits for its last spans for one second.
  expect(performance.now() - since).toBeLessThan(5000)
})

verifies(
  'serve.traces.away',
  'nobody listens at the endpoint, and every call is answered',
  async () => {
    const env = {
      HTTP_OTEL_ENABLED: 'true',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    }
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    const parley = await serveLogged({ env })
    const alice = mailbox(parley, 'alice')
    const numbers = Array.from({ length: 50 }, (_, n) => String(n))
    await Promise.all(numbers.map((n) => alice.send('bob', n)))
    const taken: (string | undefined)[] = []
    for (const _ of numbers) taken.push((await mailbox(parley, 'bob').check())?.content)
    expect(taken.toSorted()).toEqual(numbers.toSorted())
    const lost = async () => lostIn(await (await fetch(`${parley.url}/metrics`)).text())
    await expect.poll(lost, { timeout: 10_000 }).toBeGreaterThan(0)
    await parley.stop()
    expect(parley.logged()).not.toMatch(/"level":[56]0/)
  },
  20_000,
)
