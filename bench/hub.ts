/** Measures of the hub door: from a send to its update in both eras, and to a thousand who follow one thread. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { percentile } from './client.ts'
import type { Row } from './rows.ts'
import { startParley } from './server.ts'

const crowd = 1000

export async function hubRows(folder: () => string, quick: boolean, say: (text: string) => void): Promise<Row[]> {
  const parley = await startParley(folder())
  const url = `http://127.0.0.1:${parley.port}/hub/mcp?agent=`
  try {
    const { thread } = (await callTool(`${url}alice`, { to: 'bob', text: 'begin' })) as { thread: string }
    const send = () => callTool(`${url}alice`, { to: 'bob', text: 'x'.repeat(200), thread })
    const rows: Row[] = []
    for (const [era, open] of [
      ['sessions', openSession],
      ['2026-07-28', openListen],
    ] as const) {
      say(`hub: send to update, ${era}`)
      const followed = await open(`${url}bob`, `apm2://threads/${thread}`)
      const times: number[] = []
      for (let n = 0; n < (quick ? 200 : 600); n++) {
        const began = performance.now()
        const told = followed.next()
        await send()
        await told
        times.push(performance.now() - began)
      }
      followed.end()
      const p50 = percentile(times, 50)
      rows.push({
        what: `hub: send → \`resources/updated\`, ${era}`,
        measured: `p50 ${p50.toFixed(2)} ms, p99 ${percentile(times, 99).toFixed(2)} ms`,
        target: 'p50 ≤ 5 ms',
        reached: p50 <= 5,
      })
    }
    say(`hub: ${crowd} followers of one thread`)
    const all = []
    for (let n = 0; n < crowd; n++) all.push(await openListen(`${url}bob`, `apm2://threads/${thread}`))
    const messages = quick ? 20 : 100
    const began = performance.now()
    const told = all.map((one) => one.until(messages))
    for (let n = 0; n < messages; n++) await send()
    await Promise.all(told)
    const rate = (crowd * messages) / ((performance.now() - began) / 1000)
    for (const one of all) one.end()
    rows.push({
      what: `hub: fan-out to ${crowd.toLocaleString('en')} followers of one thread`,
      measured: `${Math.round(rate).toLocaleString('en')} notifications a second`,
      target: '≥ 20,000',
      reached: rate >= 20_000,
    })
    return rows
  } finally {
    await parley.stop()
  }
}

const plain = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

async function callTool(url: string, args: object): Promise<unknown> {
  const params = { name: 'apm2.message.send', arguments: args }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const response = await fetch(url, { method: 'POST', headers: plain, body })
  return ((await response.json()) as { result: { structuredContent: unknown } }).result.structuredContent
}

interface Followed {
  /** Resolves with the next update. */
  next(): Promise<void>
  /** Resolves once there are so many. */
  until(count: number): Promise<void>
  end(): void
}

async function follow(url: string, method: string, headers: Record<string, string>, body?: object): Promise<Followed> {
  const sent = request(url, { method, headers, agent: false })
  sent.end(body && JSON.stringify(body))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let count = 0
  let look = () => {}
  // A listener is acknowledged first.
  if (method === 'POST') await once(response, 'data')
  response.setEncoding('utf8').on('data', (text: string) => {
    count += text.split('notifications/resources/updated').length - 1
    look()
  })
  const until = (wanted: number) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (count >= wanted) resolve()
      }
      look()
    })
  return { until, next: () => until(count + 1), end: () => void sent.destroy() }
}

async function openSession(url: string, uri: string): Promise<Followed> {
  const post = (message: object, headers: object = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { ...plain, ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    })
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  const token = (await post({ method: 'initialize', params })).headers.get('mcp-session-id') ?? ''
  await post({ method: 'resources/subscribe', params: { uri } }, { 'mcp-session-id': token })
  return follow(url, 'GET', { accept: 'text/event-stream', 'mcp-session-id': token })
}

export function openListen(url: string, uri: string): Promise<Followed> {
  const version = '2026-07-28'
  const headers = { ...plain, 'mcp-protocol-version': version, 'mcp-method': 'subscriptions/listen' }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { notifications: { resourceSubscriptions: [uri] }, _meta }
  return follow(url, 'POST', headers, { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params })
}
