/** Contact by verification code, as time passes, on both engines. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub, usualRules } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { asHubError } from '../../base/errors.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { listContacts } from '../contacts/links.ts'
import { claimMessage } from '../mail/claims.ts'
import { send } from '../messages/send.ts'
import { approveConnection, listPendingConnections, requestConnection } from './connecting.ts'
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
    expect(await codeOf(approveConnection(hub, as('bob'), code))).toBe('CONTACT_CODE_EXPIRED')
    expect(await listPendingConnections(hub, as('bob'))).toEqual([])
    // A renewal at the mail door does not make an old code good again.
    await requestContact(hub, as('alice'), { to: { name: 'bob' } })
    expect(await codeOf(approveConnection(hub, as('bob'), code))).toBe('CONTACT_CODE_EXPIRED')
    await hub.close()
  })

  verifies('post.code.expires', 'of an expired request are replaced by the next one, from either side', async () => {
    const { clock, hub } = await begin()
    await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
    clock.advance(3_600_000)
    const { code } = await requestConnection(hub, as('bob'), { to: { name: 'alice' } })
    await approveConnection(hub, as('alice'), code)
    expect(await codeOf(send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'now' }))).toBe('ok')
    await hub.close()
  })

  verifies('post.approve.active', 'make contact that does not end', async () => {
    const { clock, hub } = await begin()
    const { code } = await requestConnection(hub, as('alice'), { to: { name: 'bob' }, message: 'hi' })
    await approveConnection(hub, as('bob'), code)
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
    expect(await codeOf(approveConnection(hub, as('bob'), code))).toBe('RATE_LIMITED')
    clock.advance(60_000)
    expect(await codeOf(approveConnection(hub, as('bob'), code))).toBe('ok')
    await hub.close()
  })

  verifies('post.code.hidden', 'that are not shown are the only way to approve', async () => {
    const { hub } = await begin({ codesShown: false })
    const { code } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
    expect(await listPendingConnections(hub, as('bob'))).toMatchObject([{ from: 'alice', code: undefined }])
    const answer = (accept: boolean) => codeOf(respondContact(hub, as('bob'), { from: { name: 'alice' }, accept }))
    expect(await answer(true)).toBe('FORBIDDEN')
    expect(await codeOf(approveConnection(hub, as('bob'), code))).toBe('ok')
    await hub.close()
  })

  verifies('post.code.hidden', 'that are shown leave the other way open', async () => {
    const { hub } = await begin()
    const { code } = await requestConnection(hub, as('alice'), { to: { name: 'bob' } })
    await respondContact(hub, as('bob'), { from: { name: 'alice' }, accept: true })
    expect(await codeOf(approveConnection(hub, as('bob'), code))).toBe('CONTACT_NOT_FOUND')
    await hub.close()
  })

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
