/** Traces, as a collector receives them from real servers. */
import { expect } from 'vitest'
import { eachEngine } from '../support/engines.ts'
import { type Span, startCollector } from '../support/otlp.ts'
import { callTool, mailbox, startParley, waitingCalls } from '../support/parley.ts'
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
      await callTool(here, 'send_to_agent', message, { headers: { traceparent } })
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
      expect(collector.received()).not.toContain('canary')
    },
    60_000,
  )
})

verifies('serve.traces.parent', 'a client names its trace in _meta, and the call is in it', async () => {
  const collector = await startCollector()
  const parley = await startParley({ env: collector.env })
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
    const parley = await startParley({ env: { ...collector.env, ...sampler } })
    await mailbox(parley, 'alice').send('bob', 'hello')
    await callTool(`${parley.url}/agents/bob/mcp`, 'check_mail', {}, { meta: { traceparent } })
    expect(await parley.end()).toBe(0)
    const spans = collector.spans()
    expect(byName(spans, 'tool check_mail')).toMatchObject({ traceId: trace, parentSpanId: parent, links: [] })
    expect(wayUp(spans, byName(spans, 'take'))).toEqual(['take', 'tool check_mail'])
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([trace]))
  },
)
