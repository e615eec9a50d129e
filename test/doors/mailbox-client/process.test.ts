/** `parley mailbox` as a process: its settings, a server that comes and goes, how it ends. */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { loadConfig } from '../../../src/settings/read.ts'
import { ownerAt, pair, startMailbox, unreadOf } from '../../support/mailbox-client.ts'
import { runParley, serveHere, shareServer, spawnParley, temporaryFolder } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

verifies(
  ['client.server.away', 'client.socket.missed'],
  'A server that is away is told so; what was sent meanwhile is there when it is back',
  async () => {
    const storage = await temporaryFolder()
    const first = await serveHere({ storage })
    const [alice, bob] = await pair(first)
    const { call, log } = await startMailbox({ url: first.url, key: bob.key, env: { LOG_LEVEL: 'debug' } })
    const opened = () => log().match(/the WebSocket is open/g)?.length
    expect(await call('mailbox_check')).toContain('empty')
    await expect.poll(opened).toBe(1)
    await first.stop()
    for (const tool of ['mailbox_check', 'mailbox_wait'])
      await expect(call(tool)).rejects.toMatchObject({
        code: 'SERVER_UNAVAILABLE',
        message: expect.stringContaining(`The Parley server at ${first.url} cannot be reached`),
        hint: expect.stringMatching(/^Nothing is lost.*MAILBOX_SERVER_URL/),
      })
    const again = await serveHere({ storage, env: { HTTP_PORT: String(first.port) } })
    expect(again.url).toBe(first.url)
    await alice.rest.send({ to: bob.name, subject: 'Missed', content: 'while you were away' })
    expect(await call('mailbox_wait', { wait_seconds: 20 })).toContain('> while you were away\n')

    // The other way round: it waits while its server goes and comes back, and another one has the message meanwhile.
    await expect.poll(opened, { timeout: 10_000 }).toBe(2)
    const looks = async () =>
      Number(
        /tool="list_unread",outcome="ok"\} (\d+)/.exec(await (await fetch(`${again.url}/metrics`)).text())?.[1] ?? 0,
      )
    const before = await looks()
    const waiting = call('mailbox_wait', { wait_seconds: 50 })
    await expect.poll(looks).toBe(before + 1)
    const beside = await serveHere({ storage })
    await again.stop()
    const { rest } = ownerAt(beside, alice)
    await rest.send({ to: bob.name, subject: 'Missed', content: 'and now' })
    await serveHere({ storage, env: { HTTP_PORT: String(first.port) } })
    expect(await waiting).toContain('> and now\n')
  },
)

verifies('client.send.once', 'The connection breaks before the answer: the message is there once', async () => {
  const [alice, bob] = await pair(parley())
  let lost = 0
  const proxy = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece)
    const headers = { 'content-type': 'application/json', 'x-api-key': alice.key }
    const answer = await fetch(`${parley().url}${request.url}`, {
      method: 'POST',
      headers,
      body: Buffer.concat(pieces),
    })
    if (++lost === 1) request.socket.destroy()
    else response.writeHead(answer.status).end(await answer.text())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  const { rest } = ownerAt({ url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }, alice)
  const { message_id } = await rest.send({ to: bob.name, subject: 'Plan', content: 'once' })
  expect(lost).toBe(2)
  const { sessions } = await bob.rest.inbox()
  expect(sessions[0]?.recent_messages.map(({ id }) => id)).toEqual([message_id])
})

verifies('client.server.stranger', 'Another program at the address is told from a Parley server', async () => {
  let [status, body] = [200, '<html>hello</html>']
  const server = createServer((_request, response) => response.writeHead(status).end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const { call } = await startMailbox({ url, key: `amb_${'1'.repeat(64)}` })
  for (const [code, text, says] of [
    [200, '<html>hello</html>', 'not a Parley server'],
    [200, '{"sessions": 3}', 'not a Parley server'],
    [404, 'not here', 'not a Parley server'],
    [502, 'bad gateway', 'status 502'],
  ] as const) {
    ;[status, body] = [code, text]
    await expect(call('mailbox_check')).rejects.toMatchObject({
      code: 'SERVER_UNAVAILABLE',
      message: expect.stringContaining(says),
    })
  }
})

verifies('client.settings.environment', 'Settings come from the environment, or the file it names', async () => {
  const { url } = parley()
  const [, bob] = await pair(parley())
  const folder = await temporaryFolder()
  // A repository's own file, which is for another program.
  await writeFile(join(folder, '.env'), `MAILBOX_API_KEY=${bob.key}\n`)
  const without = await startMailbox({ url, cwd: folder })
  await expect(without.call('mailbox_check')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
  const env = { PARLEY_ENV_FILE: join(folder, '.env') }
  const named = await startMailbox({ url, cwd: folder, env })
  expect(await named.call('mailbox_check')).toContain('empty')
})

verifies('client.settings.address', 'The address is host:port or a URL', () => {
  const at = (MAILBOX_SERVER_URL: string) => loadConfig({ MAILBOX_SERVER_URL }).MAILBOX_SERVER_URL
  expect(loadConfig({}).MAILBOX_SERVER_URL).toBe('http://127.0.0.1:8765')
  expect(at('hub.example:8000')).toBe('http://hub.example:8000')
  expect(at('https://hub.example/parley/')).toBe('https://hub.example/parley')
  for (const bad of ['ftp://hub.example', 'https://hub.example?x=1', 'http://', 'a b', 'https://me:pass@hub.example'])
    expect(() => at(bad), bad).toThrow('MAILBOX_SERVER_URL must be host:port')
})

verifies('client.stdio.ends', 'stdout is the protocol alone, and the end of stdin or a signal ends it', async () => {
  const { url } = parley()
  const [alice, bob] = await pair(parley())
  const env = { MAILBOX_SERVER_URL: url, MAILBOX_API_KEY: bob.key, LOG_LEVEL: 'trace' }
  await alice.rest.send({ to: bob.name, subject: 'Last', content: 'words' })
  for (const end of ['stdin', 'SIGTERM', 'SIGINT'] as const) {
    const mailbox = spawnParley(['mailbox'], env)
    const params = { name: 'mailbox_wait', arguments: { wait_seconds: 0 } }
    mailbox.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params })}\n`)
    await mailbox.printed(/"id":7/)
    if (end === 'stdin') mailbox.child.stdin.end()
    else mailbox.child.kill(end)
    expect(await mailbox.gone, end).toBe(0)
    for (const line of mailbox.output.stdout.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ id: 7 })
    expect(`${mailbox.output.stdout}${mailbox.output.stderr}`).not.toContain(bob.key)
    // It was handed over, and marked as read before the process went.
    expect(await unreadOf(bob)).toEqual([])
  }
})

verifies('client.help.settings', 'The help names the settings and the bridge', async () => {
  const { code, stdout } = await runParley(['mailbox', '--help'], {})
  expect(code).toBe(0)
  for (const word of ['--bridge', 'MAILBOX_SERVER_URL', 'MAILBOX_API_KEY', 'OPENCLAW_GATEWAY_TOKEN', 'PARLEY_ENV_FILE'])
    expect(stdout).toContain(word)
})
