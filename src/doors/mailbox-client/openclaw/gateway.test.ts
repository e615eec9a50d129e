import { describe, expect, test } from 'vitest'
import * as fake from '../../../../test/support/gateway.ts'
import { verifies } from '../../../../test/support/verifies.ts'
import { systemClock } from '../../../base/clock.ts'
import { createGateway, GatewayFailure } from './gateway.ts'

const message = { sessionKey: 'agent:main:main', text: 'hello', messageId: 'm1' }

async function start(...replies: fake.Reply[]) {
  const there = await fake.startGateway()
  if (replies.length > 0) there.replies(...replies)
  return { there, gateway: createGateway({ url: there.url, token: fake.gatewayToken, clock: systemClock }) }
}

const never = new AbortController().signal

verifies('bridge.gateway.call', 'sessions_send does not wait, and names no calling session', async () => {
  const { there, gateway } = await start()
  await gateway.hand(message)
  expect(there.calls).toMatchObject([
    {
      path: '/tools/invoke',
      headers: { authorization: `Bearer ${fake.gatewayToken}` },
      body: {
        tool: 'sessions_send',
        args: { sessionKey: 'agent:main:main', message: 'hello', timeoutSeconds: 0 },
        idempotencyKey: 'm1',
      },
    },
  ])
  expect(there.calls[0]?.body).not.toHaveProperty('sessionKey')
})

describe('What the gateway says', () => {
  const taken = ['accepted', 'ok', 'queued', 'no_reply', 'timeout']

  verifies('bridge.gateway.inside', `counts as accepted: ${taken.join(', ')}`, async () => {
    const { there, gateway } = await start(...taken.map((status) => fake.details({ status, reply: 'x' })))
    for (const _ of taken) await gateway.hand(message)
    // Older ones give the details as text alone.
    there.replies(
      fake.status(200, { ok: true, result: { content: [{ type: 'text', text: '{"status":"accepted"}' }] } }),
    )
    await gateway.hand(message)
  })

  const odd: [says: string, reply: fake.Reply][] = [
    [
      'cannot target the calling session',
      fake.details({ status: 'error', error: 'sessions_send cannot target the calling session' }),
    ],
    [
      'during gateway startup',
      fake.details({ status: 'error', error: 'sessions.create unavailable during gateway startup' }),
    ],
    ['Unknown agent id', fake.details({ status: 'error', error: 'Unknown agent id "main"' })],
    ['forbidden', fake.details({ status: 'forbidden' })],
    ['did not say', fake.details({ count: 0 })],
    ['did not say', fake.status(200, { ok: true })],
    ['refused the message: no', fake.status(200, { ok: false, error: { type: 'x', message: 'no' } })],
    ['no result of a tool', fake.raw('<html>starting</html>')],
    [
      'gateway.tools.allow',
      fake.status(404, { ok: false, error: { type: 'not_found', message: 'Tool not available: sessions_send' } }),
    ],
    ['OPENCLAW_GATEWAY_TOKEN', fake.unauthorized],
    ['status 500', fake.status(500)],
    ['cannot be reached', fake.hangsUp],
  ]

  verifies('bridge.gateway.inside', 'is told from acceptance, whatever its status', async () => {
    const { gateway } = await start(...odd.map(([, reply]) => reply))
    for (const [says] of odd) {
      const failure = await gateway.hand(message).catch((error: unknown) => error)
      expect(failure, says).toBeInstanceOf(GatewayFailure)
      expect((failure as Error).message).toContain(says)
      expect((failure as Error).message).not.toContain(fake.gatewayToken)
    }
  })

  test('A session that is gone can be replaced; an agent that is not there cannot', async () => {
    const gone = { status: 'error', error: 'No session found: agent:main:old' }
    const { gateway } = await start(fake.details(gone), fake.details({ status: 'error', error: 'Unknown agent id' }))
    await expect(gateway.hand(message)).rejects.toMatchObject({ sessionGone: true })
    await expect(gateway.hand(message)).rejects.toMatchObject({ sessionGone: false })
  })
})

verifies('bridge.inline.answer', 'The agent is asked by a completion in its session, one turn', async () => {
  const { there, gateway } = await start(fake.answers('fine'), fake.answers(' NO_REPLY\n'), fake.answers(''))
  expect(await gateway.ask({ ...message, sessionKey: 'agent:work:main' }, never)).toBe('fine')
  expect(there.calls).toMatchObject([
    {
      path: '/v1/chat/completions',
      headers: { 'x-openclaw-session-key': 'agent:work:main' },
      body: { model: 'openclaw/work', messages: [{ role: 'user', content: 'hello' }] },
    },
  ])
  expect(await gateway.ask(message, never)).toBeUndefined()
  expect(await gateway.ask(message, never)).toBeUndefined()
})

verifies('bridge.inline.answer', 'A gateway that takes no completions says how it would', async () => {
  const { gateway } = await start(fake.status(404), fake.status(200, { choices: [] }), fake.raw('no'))
  await expect(gateway.ask(message, never)).rejects.toThrow('gateway.http.endpoints.chatCompletions.enabled')
  await expect(gateway.ask(message, never)).rejects.toThrow('no completion')
  await expect(gateway.ask(message, never)).rejects.toThrow('no completion')
})
