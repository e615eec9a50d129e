/** Traces, as a collector receives them from real servers. */
import { expect, vi } from 'vitest'
import { eachEngine } from '../support/engines.ts'
import { type Span, startCollector } from '../support/otlp.ts'
import { callTool, mailbox, serveHere, startParley, waitingCalls } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const trace = '0af7651916cd43dd8448eb211c80319c'
const parent = '00f067aa0ba902b7'
const traceparent = `00-${trace}-${parent}-01`

/** On a machine with other work. */
const patiently = { timeout: 10_000 }

const byName = (spans: readonly Span[], name: string): Span | undefined => spans.find((span) => span.name === name)

/** The names from a span up to the outermost that was received. */
function wayUp(spans: readonly Span[], from: Span | undefined): string[] {
  const outer = spans.find(({ spanId }) => spanId === from?.parentSpanId)
  return from === undefined ? [] : [from.name, ...wayUp(spans, outer)]
}

eachEngine('Traces of two nodes', (open) => {
  verifies(
    ['serve.traces.message', 'serve.traces.wait', 'serve.traces.content', 'serve.traces.parent'],
    'a message is sent at one node and taken at the other, and the collector shows its whole way',
    async () => {
      const collector = await startCollector()
      const { url } = await open()
      const env = { DATABASE_URL: url, SECRET_KEY: 'canary-secret-key', ...collector.env }
      const [sending, taking] = await Promise.all([
        startParley({ env: { ...env, OTEL_SERVICE_NAME: 'node-a' } }),
        startParley({ env: { ...env, OTEL_SERVICE_NAME: 'node-b' } }),
      ])
      await mailbox(taking, 'canary-bob').send('canary-bob', 'canary-first')
      await mailbox(taking, 'canary-bob').check()
      const waiting = mailbox(taking, 'canary-bob', { query: '?note=canary-query' }).check({ wait_seconds: 20 })
      await expect.poll(() => waitingCalls(taking), patiently).toBe(1)
      // Seen while it waits: the call has no span that lasts as long as the wait.
      const asleep = () => collector.spans().find(({ events }) => events.includes('wait'))
      await expect.poll(asleep, patiently).toBeDefined()
      const here = `${sending.url}/agents/canary-alice/mcp?note=canary-query`
      const message = { name: 'canary-bob', msg: 'canary-body' }
      await callTool(here, 'send_to_agent', message, { headers: { traceparent, tracestate: 'vendor=their-own' } })
      expect((await waiting)?.content).toBe('canary-body')
      expect(await sending.end()).toBe(0)
      expect(await taking.end()).toBe(0)

      const spans = collector.spans()
      const sent = spans.filter(({ traceId }) => traceId === trace)
      expect(new Set(sent.map(({ service }) => service))).toEqual(new Set(['node-a']))
      const route = 'POST /agents/:agent/mcp'
      expect(wayUp(sent, byName(sent, 'wake'))).toEqual(['wake', 'commit', 'send', 'tool send_to_agent', route])
      expect(byName(sent, route)?.parentSpanId).toBe(parent)
      expect(byName(sent, route)?.attributes).toEqual({
        'http.request.method': 'POST',
        'http.route': '/agents/:agent/mcp',
        'http.response.status_code': 200,
      })
      expect(byName(sent, 'commit')?.attributes).toMatchObject({ 'parley.commit.units': expect.any(Number) })
      expect(byName(sent, 'commit')?.attributes['parley.commit.waited_ms']).toBeGreaterThanOrEqual(0)

      const woken = spans.find(({ name, attributes }) => name === 'woken' && attributes['parley.wait.found'] === true)
      const call = spans.filter(({ traceId }) => traceId === woken?.traceId)
      expect(woken?.service).toBe('node-b')
      expect(wayUp(call, woken)).toEqual(['woken', 'take', 'tool check_mail', route])
      expect(byName(call, 'take')).toMatchObject({
        events: ['wait'],
        attributes: { 'parley.agent.id': expect.any(Number) },
      })
      for (const { ms } of call) expect(ms).toBeLessThan(10_000)
      // The link goes from the span that delivers to one of the trace that sent.
      expect(woken?.links).toHaveLength(1)
      expect(sent.map(({ spanId }) => spanId)).toContain(woken?.links[0]?.spanId)

      expect(collector.received()).toContain('parley.door')
      expect(collector.received()).toContain('"traceState":"vendor=their-own"')
      expect(collector.received()).not.toContain('canary')
    },
    60_000,
  )
})

/** In this process: OpenTelemetry reads its own variables from the environment. */
async function serveTraced(env: Record<string, string>) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  return serveHere({ env })
}

verifies('serve.traces.parent', 'a client names its trace in _meta, and the call is in it', async () => {
  const collector = await startCollector()
  const parley = await serveTraced(collector.env)
  await callTool(`${parley.url}/agents/alice/mcp`, 'check_mail', {}, { meta: { traceparent } })
  await expect.poll(() => byName(collector.spans(), 'tool check_mail'), patiently).toBeDefined()
  await expect.poll(() => byName(collector.spans(), 'POST /agents/:agent/mcp'), patiently).toBeDefined()
  const spans = collector.spans()
  const [call, request] = [byName(spans, 'tool check_mail'), byName(spans, 'POST /agents/:agent/mcp')]
  expect(call).toMatchObject({ traceId: trace, parentSpanId: parent })
  expect(call?.links).toEqual([{ traceId: request?.traceId, spanId: request?.spanId }])
  expect(collector.headers[0]?.path).toBe('/v1/traces')
})

verifies(
  'serve.traces.parent',
  'a request that the sampler leaves out has no spans, but for the call of a client that traces',
  async () => {
    const collector = await startCollector()
    const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
    const parley = await serveTraced({ ...collector.env, ...sampler })
    await mailbox(parley, 'alice').send('bob', 'hello')
    await callTool(`${parley.url}/agents/bob/mcp`, 'check_mail', {}, { meta: { traceparent } })
    await parley.stop()
    const spans = collector.spans()
    expect(byName(spans, 'tool check_mail')).toMatchObject({ traceId: trace, parentSpanId: parent, links: [] })
    expect(wayUp(spans, byName(spans, 'take'))).toEqual(['take', 'tool check_mail'])
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([trace]))
  },
)

/** Of `n`; the parent is sampled if its caller says so. */
const traceOf = (n: number): string => String(n).padStart(32, 'a')
const parentOf = (n: number, sampled: boolean): string => `00-${traceOf(n)}-${parent}-0${Number(sampled)}`

verifies(
  ['serve.traces.parent', 'serve.traces.message'],
  'of calls that share a commit, each has its own trace or none, and so has its message',
  async () => {
    const collector = await startCollector()
    const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
    const parley = await serveTraced({ ...collector.env, ...sampler })
    await mailbox(parley, 'alice').send('bob', 'first')
    // Sampled by its parent, left out by its parent, left out by the sampler: one after the other, all at once.
    const numbers = Array.from({ length: 60 }, (_, n) => n)
    const headersOf = (n: number) => (n % 3 === 2 ? {} : { headers: { traceparent: parentOf(n, n % 3 === 0) } })
    await Promise.all(numbers.map((n) => mailbox(parley, 'alice', headersOf(n)).send(`bob-${n}`, 'hello')))
    for (const n of numbers)
      await mailbox(parley, `bob-${n}`, { headers: { traceparent: parentOf(n + 100, true) } }).check()
    await parley.stop()

    const spans = collector.spans()
    for (const n of numbers) {
      const sent = spans.filter(({ traceId }) => traceId === traceOf(n))
      const names = n % 3 === 0 ? ['POST /agents/:agent/mcp', 'commit', 'send', 'tool send_to_agent', 'wake'] : []
      expect(sent.map(({ name }) => name).toSorted()).toEqual(names)
      const taken = spans.filter(({ traceId }) => traceId === traceOf(n + 100))
      const links = taken.flatMap(({ links }) => links.map(({ traceId }) => traceId))
      expect(links).toEqual(n % 3 === 0 ? [traceOf(n)] : [])
    }
    expect(spans.filter(({ traceId }) => !traceId.startsWith('aaaa'))).toEqual([])
  },
  30_000,
)

verifies(
  ['serve.traces.wait', 'serve.traces.parent'],
  'a call of another trace than its request ends the spans of both when it goes to sleep',
  async () => {
    const collector = await startCollector()
    const parley = await serveTraced(collector.env)
    await mailbox(parley, 'bob').check()
    const waiting = callTool(
      `${parley.url}/agents/bob/mcp`,
      'check_mail',
      { wait_seconds: 20 },
      { meta: { traceparent } },
    )
    const ended = () => {
      const call = collector.spans().find(({ name, traceId }) => name === 'tool check_mail' && traceId === trace)
      return call && collector.spans().find(({ spanId }) => spanId === call.links[0]?.spanId)
    }
    await expect.poll(ended, patiently).toMatchObject({ name: 'POST /agents/:agent/mcp' })
    await mailbox(parley, 'alice').send('bob', 'hello')
    await waiting
  },
)

verifies('serve.traces.parent', 'a traceparent that is none leaves the decision with the sampler', async () => {
  const collector = await startCollector()
  const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_always_off' }
  const parley = await serveTraced({ ...collector.env, ...sampler })
  const headers = { traceparent: 'canary' }
  await callTool(`${parley.url}/agents/alice/mcp`, 'check_mail', {}, { headers, meta: headers })
  await mailbox(parley, 'alice', { headers: { traceparent } }).check()
  await parley.stop()
  expect(new Set(collector.spans().map(({ traceId }) => traceId))).toEqual(new Set([trace]))
})

verifies('serve.traces.parent', 'a search that catches up with what was sent is in no trace of a send', async () => {
  const collector = await startCollector()
  const parley = await serveTraced(collector.env)
  for (let n = 0; n < 5; n++) await mailbox(parley, 'alice').send('bob', `message ${n}`)
  // The index has followed.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  await parley.stop()
  const spans = collector.spans()
  for (const commit of spans.filter(({ name }) => name === 'commit')) expect(wayUp(spans, commit)[1]).toBe('send')
})
