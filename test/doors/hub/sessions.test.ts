/** Sessions of the hub as principals: bound to who opened them. */
import { expect } from 'vitest'
import { printedBy } from '../../support/cli.ts'
import { inSession, sessionEvents, subscribe } from '../../support/events.ts'
import { hubDoorOf, threadUri } from '../../support/hub-door.ts'
import { serveHere, serveLogged } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { ask, openSession } from '../../support/wire.ts'

verifies('all.http.same-origin', 'a page of another site, or by another name of the host, is not let in', async () => {
  const parley = await serveHere()
  const { endpoint } = hubDoorOf(parley, 'alice')
  const token = await openSession(endpoint)
  const foreign = [
    { origin: 'https://evil.example' },
    { origin: `http://evil.example:${parley.port}` },
    { host: 'evil.example' },
    { host: `evil.example:${parley.port}`, origin: `http://evil.example:${parley.port}` },
  ]
  for (const headers of foreign)
    for (const request of [
      { method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) },
      { method: 'GET', headers: { accept: 'text/event-stream', 'mcp-session-id': token } },
      { method: 'DELETE', headers: { 'mcp-session-id': token } },
    ]) {
      const all = { 'content-type': 'application/json', ...request.headers, ...headers }
      const path = endpoint.slice(parley.url.length)
      expect((await ask(parley, { ...request, path, headers: all })).status).toBe(403)
    }
  expect(await inSession(endpoint, token, 'ping', {})).toMatchObject({ status: 200 })
})

verifies('hub.sessions.stolen', 'a stolen session is nobody’s, the theft is noted, and the owner goes on', async () => {
  const parley = await serveLogged()
  const { thread } = await hubDoorOf(parley, 'alice').send('bob', 'secret')
  await hubDoorOf(parley, 'mallory').send('mallory', 'I am here')
  const keyOf = async (agent: string) =>
    /amb_[0-9a-f]{64}/.exec(await printedBy(parley, ['keys', 'create', agent]))?.[0] ?? ''
  const [bob, mallory] = [{ 'x-api-key': await keyOf('bob') }, { 'x-api-key': await keyOf('mallory') }]
  const url = `${parley.url}/hub/mcp`
  const token = await openSession(url, bob)
  const uri = threadUri(thread)
  expect(await subscribe(url, token, uri, bob)).toMatchObject({ status: 200 })
  const stream = await sessionEvents(url, token, undefined, bob)
  for (const headers of [mallory, {}])
    for (const method of ['ping', 'resources/subscribe', 'resources/read'])
      expect((await inSession(url, token, method, { uri }, headers)).status).toBe(404)
  expect((await sessionEvents(url, token, undefined, mallory)).status).toBe(404)
  expect((await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': token, ...mallory } })).status).toBe(404)
  expect(parley.logged()).toContain('a session of another caller was used')
  expect(parley.logged()).not.toContain(token)
  expect(await inSession(url, token, 'resources/read', { uri }, bob)).toMatchObject({ status: 200 })
  await hubDoorOf(parley, 'alice').send('bob', 'more', { thread })
  await stream.until(1)
  expect(stream.uris()).toEqual([uri])
})
