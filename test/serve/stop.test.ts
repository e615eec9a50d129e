/** Stopping: on a signal it answers those who wait, finishes what it has begun, lets go of the rest, and closes the database. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { archived } from '../support/archive.ts'
import {
  callTool,
  connectClient,
  eras,
  type Mail,
  mailbox,
  type Parley,
  serveHere,
  startParley,
  temporaryFolder,
  waitingCalls,
} from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask, checkMail, openSession, openSocket, sendHalf } from '../support/wire.ts'

const call = (name: string, args: object) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})

/** Ends it with a signal, and sees that it was in time and in good order. */
async function endWell(parley: Parley, signal: NodeJS.Signals = 'SIGTERM', more: string[] = []): Promise<void> {
  const started = performance.now()
  expect(await parley.end(signal)).toBe(0)
  expect(performance.now() - started).toBeLessThan(5000)
  const lines = parley.output.stderr.trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ msg: 'stopping', signal })])
  // SQLite removes the WAL when the last connection is closed.
  // The number of the last acknowledged change is there once there was one, the list of archives once one was begun.
  const later = new Set(['parley.sqlite3-acknowledged', 'projects.list'])
  const files = (await readdir(parley.storage)).filter((name) => !later.has(name))
  expect(files.sort()).toEqual(['parley.sqlite3', 'parley.sqlite3-bell', 'secret.key', ...more].sort())
}

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  verifies('serve.stop.signals', 'ends a server that has nothing to do', async () => {
    await endWell(await startParley(), signal)
  })

  verifies('serve.stop.signals', 'ends it and its archive in time whatever connections are open', async () => {
    // An archive that had to be cut short would say so.
    const parley = await startParley({ env: archived })
    const begun = join(parley.storage, 'projects', '.archive.json')
    await expect.poll(() => existsSync(begun), { timeout: 20_000 }).toBe(true)
    const idle = await openSocket(parley)
    idle.write(`GET /health/liveness HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await once(idle, 'data')
    await openSocket(parley)
    ;(await openSocket(parley)).write('POST /agents/alice/mcp HTTP/1.1\r\nHost: local')
    const half = await sendHalf(parley, '/agents/alice/mcp', call('check_mail', {}))
    const endpoint = `${parley.url}/agents/alice/mcp`
    const stream = await fetch(endpoint, {
      headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': await openSession(endpoint) },
    })
    expect([stream.status, stream.headers.get('connection')]).toEqual([200, 'close'])
    await endWell(parley, signal, ['projects'])
    // The stream ends as a response should, and says when to come again; the half of a request gets no answer.
    expect(await stream.text()).toBe('retry: 1000\n\n')
    expect(half.socket.received()).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  })
})

describe('A stopping server', () => {
  verifies('serve.stop.waiting', 'answers null to those who wait, however they came', async () => {
    const parley = await startParley()
    const args = { wait_seconds: 30 }
    const clients = await Promise.all(
      eras.map((era) => connectClient(`${parley.url}/agents/client-of-${era}/mcp`, era)),
    )
    const waiting = [
      mailbox(parley, 'alice').check(args),
      mailbox(parley, 'alice').check({ ...args, lease_seconds: 60 }),
      ask(parley, { ...checkMail('bob'), body: JSON.stringify({ tool: 'check_mail', args }) }).then(({ text }) =>
        JSON.parse(text),
      ),
      ...clients.map(async (client) => {
        const { structuredContent } = await client.callTool({ name: 'check_mail', arguments: args })
        return (structuredContent as { result: unknown }).result
      }),
    ]
    await expect.poll(() => waitingCalls(parley)).toBe(waiting.length)
    await endWell(parley)
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => null))
  })

  verifies('serve.stop.drain', 'serves for as long as it was given, while balancers are sent elsewhere', async () => {
    const parley = await startParley({ env: { DRAIN_SECONDS: '2' } })
    const waiting = ask(parley, {
      ...checkMail('bob', { Connection: 'keep-alive' }),
      body: JSON.stringify({ tool: 'check_mail', args: { wait_seconds: 30 } }),
    })
    await expect.poll(() => waitingCalls(parley)).toBe(1)
    const kept = await ask(parley, checkMail('alice', { Connection: 'keep-alive' }))
    expect(kept.headers.connection).toBe('keep-alive')
    const ended = parley.end()
    await parley.printed(/"msg":"stopping"/)
    const probe = await fetch(`${parley.url}/health/readiness`)
    expect([probe.status, await probe.json()]).toEqual([503, { status: 'stopping' }])
    expect((await fetch(`${parley.url}/health/liveness`)).status).toBe(200)
    const sent = await ask(parley, {
      ...checkMail('alice', { Connection: 'keep-alive' }),
      body: JSON.stringify(call('send_to_agent', { name: 'bob', msg: 'still served' })),
    })
    expect([sent.status, sent.headers.connection]).toEqual([200, 'close'])
    // It began before the drain, and its connection ends all the same.
    const { headers, text } = await waiting
    expect([headers.connection, JSON.parse(text)]).toEqual([
      'close',
      expect.objectContaining({ content: 'still served' }),
    ])
    expect(await ended).toBe(0)
  })

  verifies(
    'serve.stop.waiting',
    'loses no message that comes at the last moment, and delivers none twice',
    async () => {
      const storage = await temporaryFolder()
      const parley = await startParley({ storage })
      const names = Array.from({ length: 30 }, (_, n) => `waiter-${n}`)
      const waiting = names.map((name) => mailbox(parley, name).check({ wait_seconds: 30 }))
      // Thirty calls take a busy machine longer than the second that a poll has.
      await expect.poll(() => waitingCalls(parley), { timeout: 10_000 }).toBe(names.length)
      const sending = names.map((name) => mailbox(parley, 'alice').send(name, `for ${name}`))
      // In the midst of them: some are stored, some are on their way.
      await Promise.race(sending)
      const [code, taken, sent] = await Promise.all([parley.end(), Promise.all(waiting), Promise.allSettled(sending)])
      expect(code).toBe(0)
      expect(parley.output.stderr).not.toMatch(/"level":[456]0/)

      const again = await serveHere({ storage })
      for (const [n, name] of names.entries()) {
        const left: (Mail | null | undefined)[] = [taken[n], await mailbox(again, name).check()]
        expect(await mailbox(again, name).check()).toBeNull()
        const contents = left.flatMap((mail) => (mail ? [mail.content] : []))
        // One that was refused or cut off may have been stored all the same: its sender does not know.
        if (sent[n]?.status === 'fulfilled') expect(contents).toEqual([`for ${name}`])
        else expect(contents.length).toBeLessThanOrEqual(1)
      }
      expect(sent.some(({ status }) => status === 'fulfilled')).toBe(true)
    },
  )

  verifies('serve.stop.waiting', 'answers and stores a send that was on its way, and begins nothing new', async () => {
    const parley = await startParley()
    const half = await sendHalf(
      parley,
      '/agents/alice/mcp',
      call('send_to_agent', { name: 'bob', msg: 'just in time' }),
    )
    const ended = endWell(parley)
    await parley.printed(/"msg":"stopping"/)
    await expect(callTool(`${parley.url}/agents/bob/mcp`, 'check_mail')).rejects.toThrow()
    const answer = await half.finish()
    expect(answer).toContain('HTTP/1.1 200 OK')
    expect(answer).toContain('"structuredContent":{"result":"')
    await ended
    const again = await serveHere({ storage: parley.storage })
    expect(await mailbox(again, 'bob').check()).toMatchObject({ content: 'just in time' })
  })

  test('ends at once on a second signal', async () => {
    const parley = await startParley()
    await sendHalf(parley, '/agents/alice/mcp', call('check_mail', {}))
    const ended = parley.end()
    await parley.printed(/"msg":"stopping"/)
    parley.child.kill('SIGINT')
    expect(await ended).toBe(1)
  })

  test('does not fall over when nobody reads its log any more', async () => {
    const parley = await startParley({ env: { LOG_LEVEL: 'debug' } })
    parley.child.stdout?.destroy()
    parley.child.stderr?.destroy()
    expect(await mailbox(parley, 'alice').check()).toBeNull()
    expect(await mailbox(parley, 'alice').check()).toBeNull()
    expect(await parley.end()).toBe(0)
    expect((await readdir(parley.storage)).sort()).toEqual([
      'parley.sqlite3',
      'parley.sqlite3-acknowledged',
      'parley.sqlite3-bell',
      'secret.key',
    ])
  })
})
