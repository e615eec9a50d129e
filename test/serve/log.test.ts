/** The log at its loudest holds no secret and no word of a message. */
import { expect } from 'vitest'
import { startParley } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask, checkMail, openSession, pingSession } from '../support/wire.ts'

verifies('serve.log.secrets', 'No token, key, session id, query or body reaches the log', async () => {
  const token = 'marker-token-of-the-operator'
  const parley = await startParley({
    env: { LOG_LEVEL: 'trace', HTTP_BEARER_TOKEN: token, SECRET_KEY: 'marker-secret-key' },
  })
  const bearer = { Authorization: `Bearer ${token}` }
  const call = (name: string, args: object) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } })
  const post = (body: string, headers: Record<string, string> = bearer, query = '') => {
    const request = checkMail('alice', headers)
    return ask(parley, { ...request, path: request.path + query, body })
  }
  const status = async (answer: ReturnType<typeof post>) => (await answer).status

  // Requests that succeed.
  expect(await status(post(call('send_to_agent', { name: 'alice', msg: 'marker-body', msg_id: 'marker-id' })))).toBe(
    200,
  )
  const taken = await post(call('check_mail', { lease_seconds: 60 }))
  const { lease } = JSON.parse(taken.text).result.structuredContent.result as { lease: string }
  expect(await status(post(call('ack_mail', { id: 'marker-id', lease })))).toBe(200)
  expect(
    await status(post(JSON.stringify({ tool: 'send_to_agent', args: { name: 'alice', msg: 'marker-short' } }))),
  ).toBe(200)
  const session = await openSession(`${parley.url}/agents/alice/mcp`, bearer)
  expect(await pingSession(`${parley.url}/agents/alice/mcp`, session, bearer)).toBe(200)
  expect(
    await status(post(call('check_mail', {}), { ...bearer, Cookie: 'marker-cookie=1' }, '?project=marker-query')),
  ).toBe(200)

  // Mail with a subject, the key that its agent got, and a visit of the pages.
  const mail = (name: string, args: object) =>
    ask(parley, { ...checkMail('alice', bearer), path: '/mcp/', body: call(name, args) })
  const project = parley.storage
  expect(await status(mail('ensure_project', { human_key: project }))).toBe(200)
  const named = { project_key: project, program: 'test', model: 'test' }
  expect((await mail('register_agent', { ...named, name: 'BlueLake' })).text).toContain('BlueLake')
  const letter = { project_key: project, sender_name: 'BlueLake', to: ['BlueLake'] }
  const sent = await mail('send_message', { ...letter, subject: 'marker-subject', body_md: 'marker-letter' })
  expect(sent.text).toContain('marker-subject')
  expect(
    (await mail('fetch_inbox', { project_key: project, agent_name: 'BlueLake', include_bodies: true })).text,
  ).toContain('marker-letter')
  const visit = { path: '/mail', headers: { Cookie: 'parley_session=marker-session', Accept: 'text/html' } }
  expect((await ask(parley, visit)).status).toBeLessThan(500)
  const registered = await ask(parley, {
    ...checkMail('alice', bearer),
    path: '/agents/register',
    body: JSON.stringify({ name: 'keyholder' }),
  })
  const key = /"api_key":"([^"]+)"/.exec(registered.text)?.[1] ?? 'no key was given'
  expect((await ask(parley, { path: '/inbox', headers: { 'X-API-Key': key } })).status).toBe(200)

  // Requests that fail.
  expect(await status(post(call('check_mail', {}), { Authorization: 'Bearer marker-wrong-token' }))).toBe(401)
  expect(await status(post(call('check_mail', {}), { Authorization: 'Basic marker-basic' }))).toBe(401)
  expect(
    await status(post(call('check_mail', {}), { Authorization: 'Bearer eyJhbGciOiJIUzI1NiJ9.marker.marker' })),
  ).toBe(401)
  expect(await status(post(call('check_mail', {}), { 'X-API-Key': 'marker-key' }))).toBe(401)
  expect(await status(post(call('check_mail', {}), { ...bearer, Origin: 'https://marker-origin.example' }))).toBe(403)
  expect(await pingSession(`${parley.url}/agents/alice/mcp`, 'marker-forged.session', bearer)).toBe(404)
  expect(await status(post('{"marker-malformed": '))).toBe(400)
  expect(await status(post('marker-text', { ...bearer, 'Content-Type': 'text/plain' }))).toBe(415)
  expect(
    await status(post(call('send_to_agent', { name: 'marker name', msg: 'marker-refused', extra: 'marker-extra' }))),
  ).toBe(200)
  expect(await status(post(call('send_to_agent', { name: 'alice', msg: `marker-large${'x'.repeat(1 << 20)}` })))).toBe(
    200,
  )
  // The server does not read it to its end, so that the answer may get lost on the way.
  await post(`"marker-too-large${'x'.repeat(4 << 20)}"`).catch(() => {})
  expect((await ask(parley, { path: '/nothing?api_key=marker-query' })).status).toBe(404)
  expect((await ask(parley, { path: '/agents/%zz/mcp?api_key=marker-query' })).status).toBe(400)
  expect((await ask(parley, { path: '/metrics?api_key=marker-query', headers: bearer })).status).toBe(200)

  expect(await parley.end()).toBe(0)
  const printed = parley.output.stdout + parley.output.stderr
  // It did log: every request has its line.
  expect(printed.match(/"path":"\/agents\/alice\/mcp"/g)?.length).toBeGreaterThan(12)
  expect(printed).toContain('"path":"/nothing"')
  expect(printed).not.toContain('marker')
  for (const secret of [session, session.split('.')[1] ?? '', lease, key]) expect(printed).not.toContain(secret)
})
