/** Questions of a tool to its client, by hand: who may answer, who is asked at all, and what becomes of an open question. */
import { once } from 'node:events'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { TestClock } from '../../support/clock.ts'
import { verifies } from '../../support/verifies.ts'
import { both, call, capabilities, http, openSession, rpc, useFixture } from './use.ts'

const accepted = { action: 'accept', content: { name: 'Ada' } }
const sampled = { role: 'assistant', model: 'test', content: { type: 'text', text: 'Hello!' } }
const prefix = 'io.modelcontextprotocol'

/** A call of 2026-07-28. */
function modern(url: string, params: object, { can = capabilities, meta = {} }: { can?: object; meta?: object } = {}) {
  const _meta = { [`${prefix}/protocolVersion`]: '2026-07-28', [`${prefix}/clientCapabilities`]: can, ...meta }
  return http(url, {
    headers: {
      accept: both,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'survey',
    },
    body: rpc('tools/call', { name: 'survey', arguments: {}, ...params, _meta }),
  })
}

/** A call on a session, read message by message while it runs. */
async function open(url: string, token: string, accept = both) {
  const headers = { 'content-type': 'application/json', accept, 'mcp-session-id': token }
  const sent = request(url, { method: 'POST', headers, agent: false })
  onTestFinished(() => void sent.destroy())
  sent.end(JSON.stringify(call('survey')))
  const [response] = await once(sent, 'response')
  const lines = createInterface(response.on('error', () => {}))[Symbol.asyncIterator]()
  const next = async () => {
    for (;;) {
      const { value = '' } = await lines.next()
      if (value.startsWith('data: ')) return JSON.parse(value.slice(6))
    }
  }
  return { next, hangUp: () => sent.destroy() }
}

const answer = (url: string, token: string, id: unknown, body: object) =>
  http(url, { headers: { accept: both, 'mcp-session-id': token }, body: { jsonrpc: '2.0', id, ...body } })

verifies('all.dialogue.own', 'a question on a stream is answered by its session, and by no other', async () => {
  const { url } = await useFixture()
  const [own, other] = [await openSession(url), await openSession(url)]
  const { next } = await open(url, own)
  const { id } = await next()
  expect((await answer(url, other, id, { result: { action: 'accept', content: { name: 'Eve' } } })).status).toBe(202)
  expect((await answer(url, own, 'another', { result: accepted })).status).toBe(202)
  expect((await answer(url, own, id, { result: accepted })).status).toBe(202)
  const question = await next()
  expect(question).toMatchObject({ method: 'sampling/createMessage' })
  await answer(url, own, question.id, { result: sampled })
  expect(await next()).toMatchObject({ result: { structuredContent: { name: 'Ada' } } })
  // Late and forged ones change nothing.
  expect((await answer(url, own, id, { result: accepted })).status).toBe(202)
  expect((await answer(url, 'forged', id, { result: accepted })).status).toBe(404)
})

test.each([
  ['an error', { error: { code: -32000, message: 'The person does not want to.' } }],
  ['something else', { result: { action: 'perhaps' } }],
])('%s in place of an answer is an error of the tool', async (_, body) => {
  const { url, world } = await useFixture()
  world.mail.push('mail')
  const token = await openSession(url)
  const { next } = await open(url, token)
  await answer(url, token, (await next()).id, body)
  expect(await next()).toMatchObject({
    result: {
      isError: true,
      structuredContent: { error: { message: 'The client did not answer elicitation/create.' } },
    },
  })
  expect(world.mail).toEqual(['mail'])
})

verifies('all.dialogue.lost', 'a client that leaves in the middle of a question has lost nothing', async () => {
  const { url, world } = await useFixture()
  world.mail.push('mail')
  const { next, hangUp } = await open(url, await openSession(url))
  await next()
  expect(world.mail).toEqual([])
  hangUp()
  await expect.poll(() => world.mail).toEqual(['mail'])
})

test('a server that stops waits for no answer', async () => {
  const { url, world, engine } = await useFixture()
  world.mail.push('mail')
  const { next } = await open(url, await openSession(url))
  await next()
  const answered = next()
  await engine.close()
  expect(await answered).toMatchObject({ result: { structuredContent: { error: { code: 'SHUTTING_DOWN' } } } })
  expect(world.mail).toEqual(['mail'])
})

verifies('all.dialogue.able', 'who cannot be asked is not asked', async () => {
  const { url } = await useFixture()
  const unable = { result: { isError: true, structuredContent: { error: { code: 'INVALID_ARGUMENT' } } } }
  // Without a session, and with one whose client takes no questions, or reads no events.
  expect((await http(url, { headers: { accept: both }, body: call('survey') })).json).toMatchObject(unable)
  const clientInfo = { name: 'mute', version: '1' }
  const begun = await http(url, {
    headers: { accept: both },
    body: rpc('initialize', { protocolVersion: '2025-11-25', capabilities: { sampling: {} }, clientInfo }),
  })
  const mute = { accept: both, 'mcp-session-id': String(begun.headers['mcp-session-id']) }
  expect((await http(url, { headers: mute, body: call('survey') })).json).toMatchObject(unable)
  const deaf = { accept: 'application/json', 'mcp-session-id': await openSession(url) }
  expect((await http(url, { headers: deaf, body: call('survey') })).json).toMatchObject(unable)
  // Since 2026-07-28 that is an error of the protocol.
  const refused = await modern(url, {}, { can: { sampling: {} } })
  expect(refused.status).toBe(400)
  expect(refused.json.error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } })
})

verifies('all.dialogue.lost', 'a call that asks by its result takes back what it did', async () => {
  const { url, world } = await useFixture()
  world.mail.push('mail')
  const first = (await modern(url, {})).json.result
  expect(first).toMatchObject({
    resultType: 'input_required',
    inputRequests: { name: { method: 'elicitation/create' } },
  })
  expect(world.mail).toEqual(['mail'])
  const answers = { inputResponses: { name: accepted, greeted: sampled } }
  const { result } = (await modern(url, { ...answers, requestState: first.requestState })).json
  expect(result).toMatchObject({ resultType: 'complete', structuredContent: { name: 'Ada', mail: 'mail' } })
  expect(world.mail).toEqual([])
})

verifies('all.dialogue.own', 'a request state holds for its own call, as it was written, for an hour', async () => {
  const clock = new TestClock()
  const { url } = await useFixture({ clock })
  const { requestState } = (await modern(url, { inputResponses: { name: accepted } })).json.result
  const next = { inputResponses: { greeted: sampled }, requestState }
  const refused = { error: { code: -32602 } }
  // The call itself goes on, also a second time: the answers are the client's own.
  for (const _ of [1, 2]) expect((await modern(url, next)).json.result).toMatchObject({ resultType: 'complete' })
  const [body = '', seal] = requestState.split('.')
  const changed = JSON.parse(Buffer.from(body, 'base64url').toString())
  changed.answers.name.content.name = 'Eve'
  const forged = `${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${seal}`
  for (const bad of [`${requestState}-`, forged, body, '', 5])
    expect((await modern(url, { ...next, requestState: bad })).json).toMatchObject(refused)
  expect((await modern(url, { ...next, arguments: { topic: 'other' } })).json).toMatchObject(refused)
  expect((await modern(url.replace('alice', 'bob'), next)).json).toMatchObject(refused)
  clock.advance(3_600_000)
  expect((await modern(url, next)).json).toMatchObject(refused)
})

test('answers that are none are asked for again, and a list of answers that is none is refused', async () => {
  const { url } = await useFixture()
  for (const name of [5, {}, { action: 'perhaps' }])
    expect((await modern(url, { inputResponses: { name } })).json.result).toMatchObject({
      resultType: 'input_required',
    })
  expect((await modern(url, { inputResponses: null })).json).toMatchObject({ error: { code: -32602 } })
})

verifies('all.logging.level', 'notes of a tool go to a client that asked for their level', async () => {
  const { url } = await useFixture()
  const notes = ({ text }: { text: string }) => [...text.matchAll(/"data":"(\w+)"/g)].map(([, note]) => note)
  const all = { inputResponses: { name: accepted, greeted: sampled } }
  const at = (level: string) => modern(url, all, { meta: { [`${prefix}/logLevel`]: level } })
  expect(notes(await at('debug'))).toEqual(['asking', 'asked'])
  expect(notes(await at('info'))).toEqual(['asking'])
  expect(notes(await at('warning'))).toEqual([])
  expect(notes(await modern(url, all))).toEqual([])
  // On a session the level is set once.
  const token = await openSession(url)
  const headers = { accept: both, 'mcp-session-id': token }
  await http(url, { headers, body: rpc('logging/setLevel', { level: 'info' }) })
  const { next } = await open(url, token)
  expect(await next()).toMatchObject({
    method: 'notifications/message',
    params: { level: 'info', logger: 'fixture', data: 'asking' },
  })
})
