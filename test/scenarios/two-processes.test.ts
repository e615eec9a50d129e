/** Two servers on one database: what is done at one is felt at the other. */
import { expect } from 'vitest'
import { eachEngine } from '../support/engines.ts'
import { mailbox, serveHere, startParley, temporaryFolder, waitingCalls } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

eachEngine('Two servers on one database', (open) => {
  const start = async () => {
    const { url } = await open()
    const storage = await temporaryFolder()
    const options = { storage, env: { DATABASE_URL: url } }
    // One of the processes is the test's own.
    return [await startParley(options), await serveHere(options)] as const
  }

  verifies('all.wait.other-process', 'a send at one wakes a waiter at the other, both ways', async () => {
    const [one, two] = await start()
    for (const [here, there] of [
      [one, two],
      [two, one],
      [one, two],
    ] as const) {
      const waiting = mailbox(there, 'bob').check({ wait_seconds: 40 })
      await expect.poll(() => waitingCalls(there)).toBe(1)
      const began = performance.now()
      await mailbox(here, 'alice').send('bob', 'across')
      expect(await waiting).toMatchObject({ from: 'alice', content: 'across' })
      expect(performance.now() - began).toBeLessThan(10_000)
    }
    await two.stop()
    expect(await one.end()).toBe(0)
  })

  verifies('mailbox.pop.once', 'consumers at both share one mailbox, each message once', async () => {
    const servers = await start()
    const total = 200
    const seen: string[] = []
    const consumers = servers.flatMap((server) =>
      [1, 2, 3].map(async () => {
        const me = mailbox(server, 'busy')
        while (seen.length < total) {
          const mail = await me.check({ wait_seconds: 0.2 })
          if (mail !== null) seen.push(mail.content)
        }
      }),
    )
    await Promise.all(
      Array.from({ length: total }, (_, n) =>
        mailbox(servers[n % 2] ?? servers[0], `sender-${n % 10}`).send('busy', String(n)),
      ),
    )
    await Promise.all(consumers)
    expect(seen.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: total }, (_, n) => n))
    await servers[1].stop()
    expect(await servers[0].end()).toBe(0)
  })

  verifies(
    ['all.sessions.anywhere', 'all.sessions.refused'],
    'a session opened at one is honoured at the other, until it is ended at either',
    async () => {
      const [one, two] = await start()
      const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
      const opened = await fetch(`${one.url}/agents/bob/mcp`, {
        method: 'POST',
        headers,
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
        }),
      })
      const session = opened.headers.get('mcp-session-id') ?? ''
      const ping = async (url: string, path = '/agents/bob/mcp') =>
        (
          await fetch(url + path, {
            method: 'POST',
            headers: { ...headers, 'Mcp-Session-Id': session },
            body: '{"jsonrpc":"2.0","id":2,"method":"ping"}',
          })
        ).status
      expect(await ping(two.url)).toBe(200)
      expect(await ping(one.url)).toBe(200)
      expect(await ping(two.url, '/agents/carol/mcp')).toBe(404)
      expect(
        (await fetch(`${two.url}/agents/bob/mcp`, { method: 'DELETE', headers: { 'Mcp-Session-Id': session } })).status,
      ).toBe(200)
      expect(await ping(two.url)).toBe(404)
      await expect.poll(() => ping(one.url)).toBe(404)
      await two.stop()
      expect(await one.end()).toBe(0)
    },
  )
})
