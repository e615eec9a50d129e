/** Parley behind nginx and Caddy, with the files of deploy/: everything works through them, and nobody comes in for being near. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  callTool,
  connectClient,
  eras,
  mailbox,
  type Parley,
  share,
  startParley,
  temporaryFolder,
} from '../support/parley.ts'
import { certificate, isInstalled, type ProxyName, startProxy } from '../support/proxies.ts'
import { freePort } from '../support/redis-server.ts'
import { openSession } from '../support/wire.ts'

const token = 'the-token-of-the-operator'
const headers = { Authorization: `Bearer ${token}` }

const before = getCACertificates('default')
beforeAll(async () => setDefaultCACertificates([...before, await readFile(certificate, 'utf8')]))
afterAll(() => setDefaultCACertificates(before))

describe.each(['nginx', 'caddy'] as const satisfies ProxyName[])('Behind %s', (name) => {
  const installed = isInstalled(name)
  if (!installed) process.stderr.write(`skipped: ${name} is not on this machine (apt-get install ${name})\n`)

  describe.skipIf(!installed)('two nodes', () => {
    const scene = share(async (later) => {
      const storage = await temporaryFolder(later)
      const ports = [await freePort(), await freePort()]
      const start = (port: number): Promise<Parley> =>
        startParley({ storage, later, env: { HTTP_PORT: String(port), HTTP_BEARER_TOKEN: token, DRAIN_SECONDS: '2' } })
      const nodes = await Promise.all(ports.map(start))
      return { start, ports, nodes, ...(await startProxy(name, ports, later)) }
    })

    test('serve MCP in both eras, long polls, streams and WebSockets', async () => {
      const { url } = scene()
      for (const era of eras) {
        const client = await connectClient(`${url}/agents/ann/mcp`, era, headers)
        const waiting = client.callTool({ name: 'check_mail', arguments: { wait_seconds: 20 } })
        await mailbox({ url }, 'bob', { headers }).send('ann', `through ${name}`)
        expect((await waiting).structuredContent).toMatchObject({ result: { content: `through ${name}` } })
      }
      const events = await fetch(`${url}/mail/events`, { headers: { ...headers, Accept: 'text/event-stream' } })
      expect([events.status, events.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/^text\/event-stream/),
      ])
      await events.body?.cancel()
      const registered = await fetch(`${url}/agents/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: `socket-${name}` }),
      })
      const { api_key } = (await registered.json()) as { api_key: string }
      const socket = new WebSocket(`${url.replace('https', 'wss')}/ws`, {
        headers: { Authorization: `Bearer ${api_key}` },
        ca: await readFile(certificate),
      })
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
      socket.terminate()
    })

    test('keep a stream of MCP open, and a call that waits for 50 seconds', async () => {
      const { url } = scene()
      const empty = callTool(`${url}/agents/waiter-${name}/mcp`, 'check_mail', { wait_seconds: 50 }, { headers })
      const at = `${url}/agents/streamer/mcp`
      const session = { 'Mcp-Session-Id': await openSession(at, headers) }
      const stream = await fetch(at, { headers: { ...headers, ...session, Accept: 'text/event-stream' } })
      expect([stream.status, stream.headers.get('content-type')]).toEqual([
        200,
        expect.stringMatching(/^text\/event-stream/),
      ])
      const from = performance.now()
      expect((await empty).isError).toBeFalsy()
      expect(performance.now() - from).toBeGreaterThan(45_000)
      // It is still open, after all that silence.
      const end = stream.body?.getReader()
      const said = await Promise.race([end?.read(), sleep(200, 'silent')])
      expect(said === 'silent' || (said as { done: boolean }).done === false).toBe(true)
      await end?.cancel()
    }, 90_000)

    test('take no request for another host', async () => {
      const { url } = scene()
      const body = JSON.stringify({ name: 'host-reader', msg: 'for another host' })
      const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_to_agent","arguments":${body}}}`
      const asked = request(`${url}/agents/ann/mcp`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json', Host: 'evil.example' },
        ca: await readFile(certificate),
        servername: 'localhost',
      })
      asked.end(call)
      const [answer] = (await once(asked, 'response')) as [IncomingMessage]
      const said = await text(answer)
      // Caddy has no site of that name, and answers nothing; behind nginx Parley refuses it.
      expect(answer.statusCode === 200 ? said : '').toBe('')
      expect(await mailbox({ url }, 'host-reader', { headers }).check()).toBeNull()
    })

    test('ask everybody for a credential, whatever headers were forged', async () => {
      const { url, nodes } = scene()
      // Without the proxy a caller on this machine needs none.
      expect((await callTool(`${nodes[0]?.url}/agents/ann/mcp`, 'check_mail')).isError).toBeFalsy()
      const forged = [
        {},
        { 'X-Forwarded-For': '127.0.0.1' },
        { Forwarded: 'for=127.0.0.1' },
        { 'X-Real-IP': '127.0.0.1' },
      ]
      for (const extra of forged) {
        const answer = await fetch(`${url}/agents/ann/mcp`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', ...extra },
          body: JSON.stringify({
            jsonrpc: '2.0',
            id: 1,
            method: 'tools/call',
            params: { name: 'check_mail', arguments: {} },
          }),
        })
        expect(answer.status, JSON.stringify(extra)).toBe(401)
      }
      expect((await fetch(`${url}/metrics`, { headers })).status).toBe(404)
    })

    test('refuse a request of five megabytes, and pass on one of nearly four', async () => {
      const { url } = scene()
      const statusOf = (length: number): Promise<unknown> =>
        fetch(`${url}/agents/ann/mcp`, {
          method: 'POST',
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: JSON.stringify('x'.repeat(length)),
        }).then(
          ({ status }) => status,
          // nginx may close before all was sent.
          (error: unknown) => (name === 'nginx' ? 413 : error),
        )
      expect(await statusOf(5 << 20)).toBe(413)
      // It is no call.
      expect(await statusOf((4 << 20) - 1000)).toBe(400)
    })

    test('are restarted in turn while clients send and wait: no request fails, no message is lost or comes twice', async () => {
      const { url, nodes, ports, start } = scene()
      const sent: string[] = []
      const received: string[] = []
      let running = true
      const senders = [0, 1, 2].map(async (n) => {
        for (let count = 0; running; count++)
          sent.push(await mailbox({ url }, `sender-${n}`, { headers }).send('reader', `${n}-${count}`))
      })
      const reader = (async () => {
        for (const box = mailbox({ url }, 'reader', { headers }); ; ) {
          const mail = await box.check({ wait_seconds: 1 })
          if (mail !== null) received.push(mail.id)
          else if (!running) return
        }
      })()
      for (const [n, node] of nodes.entries()) {
        expect(await node.end()).toBe(0)
        await start(ports[n] ?? 0)
        // As an operator does: Caddy looks each second whether a node is back.
        await sleep(2500)
        const from = sent.length
        await expect.poll(() => sent.length).toBeGreaterThan(from + 20)
      }
      running = false
      await Promise.all(senders)
      await reader
      expect(sent.length).toBeGreaterThan(50)
      expect(received.toSorted()).toEqual(sent.toSorted())
    }, 60_000)
  })
})
