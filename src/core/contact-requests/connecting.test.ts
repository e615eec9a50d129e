/** Contact by verification code, as time passes, on both engines. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub, usualRules } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { asHubError } from '../../base/errors.ts'
import { agentCaller, local, operator } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { listContacts } from '../contacts/links.ts'
import { shakeHands } from '../macros/work.ts'
import { claimMessage } from '../mail/claims.ts'
import { send } from '../messages/send.ts'
import { decideContact } from '../pages/decisions.ts'
import { approveConnection } from './codes.ts'
import { answerConnection, requestConnection } from './connecting.ts'
import { listPendingConnections } from './pending.ts'
import { requestContact, respondContact } from './requests.ts'

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: unknown) => asHubError(error).code,
  )

eachEngine('Codes', (open) => {
  const begin = async (contacts: Partial<typeof usualRules.contacts> = {}) => {
    const clock = new TestClock()
    const rules = { contacts: { ...usualRules.contacts, ...contacts } }
    const hub = await openTestHub(await (await open()).connect(), { clock, rules })
    for (const name of ['alice', 'bob'])
      await ensureAgent(hub, local, { project: 'commons', name, policy: 'contacts_only' })
    return { clock, hub }
  }

  verifies('post.code.expires', 'expire, and the request can be made again', async () => {
    const { clock, hub } = await begin()
    const { code } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
    clock.advance(3_599_000)
    expect(await listPendingConnections(hub, as('bob'))).toMatchObject([{ from: 'alice', code }])
    clock.advance(1000)
    expect(await codeOf(approveConnection(hub, as('bob'), code ?? ''))).toBe('CONTACT_CODE_EXPIRED')
    expect(await listPendingConnections(hub, as('bob'))).toEqual([])
    // A renewal at the mail door does not make an old code good again.
    await requestContact(hub, as('alice'), { to: { name: 'bob' } })
    expect(await codeOf(approveConnection(hub, as('bob'), code ?? ''))).toBe('CONTACT_CODE_EXPIRED')
    await hub.close()
  })

  verifies('post.code.expires', 'of an expired request are replaced by the next one, from either side', async () => {
    const { clock, hub } = await begin()
    await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
    clock.advance(3_600_000)
    const { code } = await requestConnection(hub, as('bob'), { to: { name: 'alice' } })
    await approveConnection(hub, as('alice'), code ?? '')
    expect(await codeOf(send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'now' }))).toBe('ok')
    await hub.close()
  })

  verifies('post.approve.active', 'make contact that does not end', async () => {
    const { clock, hub } = await begin()
    const { code } = await requestConnection(hub, as('alice'), { to: { name: 'bob' }, message: 'hi' })
    await approveConnection(hub, as('bob'), code ?? '')
    clock.advance(365 * 86_400_000)
    for (const [from, to] of [
      ['alice', 'bob'],
      ['bob', 'alice'],
    ] as const) {
      expect(await codeOf(send(hub, as(from), { to: [{ name: to }], body: 'hello', handshake: false }))).toBe('ok')
      const { contacts } = await listContacts(hub, as(from))
      expect(contacts).toMatchObject([{ status: 'approved', expiresAt: undefined, reason: 'hi' }])
    }
    await hub.close()
  })

  verifies('post.code.guesses', 'can be tried again after a minute', async () => {
    const { clock, hub } = await begin()
    const { code } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
    for (let n = 0; n < 10; n++) await codeOf(approveConnection(hub, as('bob'), 'AA-1234'))
    expect(await codeOf(approveConnection(hub, as('bob'), code ?? ''))).toBe('RATE_LIMITED')
    clock.advance(60_000)
    expect(await codeOf(approveConnection(hub, as('bob'), code ?? ''))).toBe('ok')
    await hub.close()
  })

  verifies('post.code.hidden', 'that are not shown are the only way to approve', async () => {
    const { hub } = await begin({ codesShown: false })
    const { code } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
    expect(await listPendingConnections(hub, as('bob'))).toMatchObject([{ from: 'alice', code: undefined }])
    const answer = (accept: boolean) => codeOf(respondContact(hub, as('bob'), { from: { name: 'alice' }, accept }))
    expect(await answer(true)).toBe('FORBIDDEN')
    expect(await codeOf(approveConnection(hub, as('bob'), code ?? ''))).toBe('ok')
    await hub.close()
  })

  verifies('post.code.hidden', 'that a request lacks are made up for by the key of the target alone', async () => {
    const { hub } = await begin({ codesShown: false })
    await codeOf(send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'hello' }))
    const [request] = await listPendingConnections(hub, as('bob'))
    expect(request).toMatchObject({ from: 'alice', code: undefined, coded: false })
    const { id = '' } = request ?? {}
    const from = { from: { name: 'alice' }, accept: true }
    const itself = {
      ...as('bob'),
      caller: agentCaller(await ensureAgent(hub, local, { project: 'commons', name: 'bob' })),
    }
    for (const other of [as('bob'), { ...as('bob'), caller: operator }]) {
      expect(await codeOf(respondContact(hub, other, from))).toBe('FORBIDDEN')
      expect(await codeOf(answerConnection(hub, other, { id, accept: true }))).toBe('FORBIDDEN')
      expect(await codeOf(requestConnection(hub, other, { to: { name: 'alice' } }))).toBe('FORBIDDEN')
    }
    const decided = decideContact(hub, operator, 'commons', { from: 'alice', to: 'bob', accept: true })
    expect(await codeOf(decided)).toBe('FORBIDDEN')
    const shaken = await shakeHands(hub, { ...as('alice'), caller: operator }, { with: { name: 'bob' }, accept: true })
    expect(shaken).toMatchObject({ left: true, answer: undefined })
    expect(await codeOf(respondContact(hub, itself, from))).toBe('ok')
    expect(await codeOf(send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'hello' }))).toBe('ok')
    await hub.close()
  })

  verifies('post.code.hidden', 'of a request that a message has filed are the only way to approve it', async () => {
    const { hub } = await begin({ codesShown: false })
    await codeOf(send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'hello' }))
    const { code = '', id } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
    const bob = {
      ...as('bob'),
      caller: agentCaller(await ensureAgent(hub, local, { project: 'commons', name: 'bob' })),
    }
    expect(await codeOf(respondContact(hub, bob, { from: { name: 'alice' }, accept: true }))).toBe('FORBIDDEN')
    expect(await codeOf(answerConnection(hub, bob, { id, accept: true }))).toBe('FORBIDDEN')
    expect(await codeOf(approveConnection(hub, bob, code))).toBe('ok')
    await hub.close()
  })

  verifies(
    'post.connect.filed',
    'are given to a request that a refused message has filed, which waits on',
    async () => {
      const { clock, hub } = await begin()
      const mail = () => codeOf(send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'hello' }))
      expect(await mail()).toBe('CONTACT_REQUIRED')
      const [filed] = await listPendingConnections(hub, as('bob'))
      const first = await requestConnection(hub, as('alice'), { to: { name: 'bob' }, message: 'Hi' })
      expect(first.id).toBe(filed?.id)
      expect(await listPendingConnections(hub, as('bob'))).toMatchObject([
        { id: first.id, code: first.code, coded: true, message: 'Hi' },
      ])
      expect(await codeOf(requestConnection(hub, as('alice'), { to: { name: 'bob' } }))).toBe('CONTACT_EXISTS')
      // Once the code has expired the request waits without one, and can be given another.
      clock.advance(3_600_000)
      expect(await listPendingConnections(hub, as('bob'))).toMatchObject([
        { id: first.id, coded: false, message: 'Hi' },
      ])
      const { code = '' } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
      expect(await codeOf(approveConnection(hub, as('bob'), code))).toBe('ok')
      clock.advance(365 * 86_400_000)
      expect(await mail()).toBe('ok')
      await hub.close()
    },
  )

  verifies('post.connect.filed', 'are not needed where both have asked', async () => {
    const { clock, hub } = await begin()
    const mail = (from: string, to: string) => codeOf(send(hub, as(from), { to: [{ name: to }], body: 'hello' }))
    expect([await mail('alice', 'bob'), await mail('bob', 'alice')]).toEqual(['CONTACT_REQUIRED', 'CONTACT_REQUIRED'])
    expect(await requestConnection(hub, as('bob'), { to: { name: 'alice' } })).toMatchObject({
      other: 'alice',
      code: undefined,
    })
    for (const name of ['alice', 'bob']) expect(await listPendingConnections(hub, as(name))).toEqual([])
    clock.advance(365 * 86_400_000)
    expect([await mail('alice', 'bob'), await mail('bob', 'alice')]).toEqual(['ok', 'ok'])
    expect(await codeOf(requestConnection(hub, as('alice'), { to: { name: 'bob' } }))).toBe('CONTACT_EXISTS')
    await hub.close()
  })

  verifies(
    'post.connect.filed',
    'of the other side have to be brought, also by one whose own message filed a request',
    async () => {
      const { hub } = await begin()
      const { code = '' } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
      expect(await codeOf(send(hub, as('bob'), { to: [{ name: 'alice' }], body: 'hello' }))).toBe('CONTACT_REQUIRED')
      expect(await codeOf(requestConnection(hub, as('bob'), { to: { name: 'alice' } }))).toBe('CONTACT_EXISTS')
      expect(await codeOf(approveConnection(hub, as('bob'), code))).toBe('ok')
      // The request of the other direction has nothing left to ask.
      expect(await listPendingConnections(hub, as('alice'))).toEqual([])
      await hub.close()
    },
  )

  verifies('post.connect.filed', 'can be asked for where automatic contact does not count', async () => {
    const { hub } = await begin()
    await ensureAgent(hub, local, { project: 'commons', name: 'carol', policy: 'auto' })
    expect(await codeOf(send(hub, as('bob'), { to: [{ name: 'carol' }], body: 'hello' }))).toBe('ok')
    const { code = '' } = await requestConnection(hub, as('carol'), { to: { name: 'bob' } })
    expect(await codeOf(approveConnection(hub, as('bob'), code))).toBe('ok')
    await hub.close()
  })

  verifies('post.answer.id', 'are not needed to answer a request that has none', async () => {
    const { clock, hub } = await begin()
    await ensureAgent(hub, local, { project: 'commons', name: 'carol', policy: 'contacts_only' })
    for (const from of ['alice', 'carol']) await codeOf(send(hub, as(from), { to: [{ name: 'bob' }], body: 'hello' }))
    const [ofAlice, ofCarol] = (await listPendingConnections(hub, as('bob'))).map(({ id }) => id)
    const answer = (who: string, id = '', accept = true) => codeOf(answerConnection(hub, as(who), { id, accept }))
    // Nobody else finds it.
    expect([await answer('alice', ofAlice), await answer('carol', ofAlice)]).toEqual(Array(2).fill('CONTACT_NOT_FOUND'))
    expect([await answer('bob', ofAlice), await answer('bob', ofCarol, false)]).toEqual(['ok', 'ok'])
    expect([await answer('bob', ofAlice), await answer('bob', ofCarol)]).toEqual(Array(2).fill('CONTACT_NOT_FOUND'))
    clock.advance(365 * 86_400_000)
    const mail = (from: string) => codeOf(send(hub, as(from), { to: [{ name: 'bob' }], body: 'hello' }))
    expect([await mail('alice'), await mail('carol')]).toEqual(['ok', 'CONTACT_BLOCKED'])
    await hub.close()
  })

  verifies('post.code.hidden', 'that are shown leave the other way open', async () => {
    const { hub } = await begin()
    const { code } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
    await respondContact(hub, as('bob'), { from: { name: 'alice' }, accept: true })
    expect(await codeOf(approveConnection(hub, as('bob'), code ?? ''))).toBe('CONTACT_NOT_FOUND')
    await hub.close()
  })

  verifies(
    'post.code.at-once',
    'of 800 named at once at two hubs ten are looked at, and none after a restart',
    async () => {
      const database = await open()
      const clock = new TestClock()
      const hubs = [
        await openTestHub(await database.connect(), { clock }),
        await openTestHub(await database.connect(), { clock }),
      ] as const
      const [hub] = hubs
      for (const name of ['alice', 'bob'])
        await ensureAgent(hub, local, { project: 'commons', name, policy: 'contacts_only' })
      const { code = '' } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
      const wrong = Array.from({ length: 800 }, (_, n) => `${code.slice(0, 2)}-${String(n).padStart(3, '0')}`)
      const named = wrong.filter((one) => one !== code)
      const outcomes = await Promise.all(
        named.map((one, n) => codeOf(approveConnection(hubs[n % 2 === 0 ? 0 : 1], as('bob'), one))),
      )
      expect(outcomes.filter((one) => one === 'CONTACT_NOT_FOUND')).toHaveLength(10)
      expect(outcomes.filter((one) => one === 'RATE_LIMITED')).toHaveLength(named.length - 10)
      for (const one of hubs) await one.close()
      const later = await openTestHub(await database.connect(), { clock })
      expect(await codeOf(approveConnection(later, as('bob'), code))).toBe('RATE_LIMITED')
      clock.advance(60_000)
      expect(await codeOf(approveConnection(later, as('bob'), code))).toBe('ok')
      await later.close()
    },
  )

  verifies('post.claim.once', 'aside, a claim lapses after two minutes', async () => {
    const { clock, hub } = await begin({ enforced: false })
    const { uid } = await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'one' })
    expect(await codeOf(claimMessage(hub, as('bob'), { uid }))).toBe('ok')
    clock.advance(119_000)
    expect(await codeOf(claimMessage(hub, as('bob'), { uid }))).toBe('MESSAGE_CLAIMED')
    clock.advance(1000)
    expect(await codeOf(claimMessage(hub, as('bob'), { uid }))).toBe('ok')
    await hub.close()
  })
})
