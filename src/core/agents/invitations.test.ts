/** Invitations: used twice, raced, guessed, expired, for an agent that has a key or does not exist. */
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { type Caller, local, operator, tokenCaller } from '../access/callers.ts'
import { callerOfKey } from '../access/keys.ts'
import type { Hub } from '../hub/hub.ts'
import { ensureAgent, needAgent } from './agents.ts'
import { acceptInvitation, invite, listInvitations, revokeInvitation } from './invitations.ts'
import { createKey, revokeKeys } from './keys.ts'

const inviting = { project: 'commons', name: 'alice', door: 'mailbox', ttlMs: 3_600_000 } as const
const accepting = (code: string, name = 'alice', address = '10.0.0.1') => ({ name, code, address })
const bringing = (hub: Hub, code: string, name?: string, address?: string) =>
  acceptInvitation(hub, local, accepting(code, name, address))

eachEngine('Invitations', (open) => {
  const openHub = async (clock = new TestClock()) => {
    const database = await open()
    return { database, clock, hub: await openTestHub(await database.connect(), { clock }) }
  }

  verifies('access.invite.key', 'give a key for an agent that is there and for one that is not', async () => {
    const { hub } = await openHub()
    const bob = await ensureAgent(hub, local, { project: 'commons', name: 'bob' })
    const { code } = await invite(hub, operator, { ...inviting, name: 'Bob' })
    const { agent, project, key } = await bringing(hub, code, 'bob')
    expect([agent, project]).toEqual(['bob', 'commons'])
    expect(await callerOfKey(hub, key)).toMatchObject({ kind: 'agent', agentId: bob.id })
    const fresh = await invite(hub, operator, { ...inviting, project: '/srv/new', name: 'carol', door: 'mail' })
    const carol = await bringing(hub, fresh.code, 'carol')
    expect(carol).toMatchObject({ agent: 'carol', project: fresh.project, door: 'mail' })
    expect(await callerOfKey(hub, carol.key)).toMatchObject({ kind: 'agent' })
    await hub.close()
  })

  verifies(
    'access.invite.key',
    'name one agent: the code with another name is wrong, and stays good for its own',
    async () => {
      const { hub } = await openHub()
      const { code } = await invite(hub, operator, inviting)
      await expect(bringing(hub, code, 'mallory')).rejects.toMatchObject({ code: 'NOT_FOUND' })
      expect(await bringing(hub, code)).toMatchObject({ agent: 'alice' })
      await hub.close()
    },
  )

  verifies('access.invite.once', 'work once, also where two bring the code at once by two processes', async () => {
    const { hub, database, clock } = await openHub()
    const other = await openTestHub(await database.connect(), { clock })
    const { code } = await invite(hub, operator, inviting)
    const both = await Promise.allSettled([
      bringing(hub, code, 'alice', '10.0.0.1'),
      bringing(other, code, 'alice', '10.0.0.2'),
    ])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    await expect(bringing(hub, code)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await other.close()
    await hub.close()
  })

  verifies('access.invite.expires', 'end with their time, when revoked, and with a newer one', async () => {
    const { hub, clock } = await openHub()
    const { code } = await invite(hub, operator, inviting)
    clock.advance(inviting.ttlMs)
    await expect(bringing(hub, code)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await listInvitations(hub, operator, { limit: 10 })).invitations).toEqual([])
    const older = await invite(hub, operator, inviting)
    const newer = await invite(hub, operator, inviting)
    await expect(bringing(hub, older.code)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await listInvitations(hub, operator, { limit: 10 })).invitations).toMatchObject([
      { agent: 'alice', project: 'commons' },
    ])
    await revokeInvitation(hub, operator, inviting)
    await expect(bringing(hub, newer.code)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(revokeInvitation(hub, operator, inviting)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await hub.close()
  })

  verifies(
    'access.invite.keyed',
    'are for agents without a key, when they are made and when they are used',
    async () => {
      const { hub } = await openHub()
      const acting = { caller: operator, project: 'commons', name: 'alice' }
      const { code } = await invite(hub, operator, inviting)
      await ensureAgent(hub, local, inviting)
      await createKey(hub, acting)
      await expect(bringing(hub, code)).rejects.toMatchObject({ code: 'CONFLICT' })
      await expect(invite(hub, operator, inviting)).rejects.toMatchObject({ code: 'CONFLICT' })
      // Its keys ended, it is still nobody's but the operator's.
      await revokeKeys(hub, acting)
      await expect(invite(hub, local, inviting)).rejects.toMatchObject({ code: 'FORBIDDEN' })
      const again = await invite(hub, operator, inviting)
      expect(await bringing(hub, again.code)).toMatchObject({ agent: 'alice' })
      await hub.close()
    },
  )

  verifies('access.invite.guessed', 'are not guessed: after ten wrong codes a right one waits', async () => {
    const { hub, clock } = await openHub()
    const { code } = await invite(hub, operator, inviting)
    expect(code).toMatch(/^[0-9a-z]{25}$/)
    const guesses = await Promise.allSettled(
      Array.from({ length: 12 }, (_, n) => bringing(hub, `${n}`.padStart(25, '0'))),
    )
    const told = guesses.map((guess) => (guess.status === 'rejected' ? guess.reason.code : 'right'))
    expect(told.toSorted()).toEqual([...Array(10).fill('NOT_FOUND'), 'RATE_LIMITED', 'RATE_LIMITED'])
    await expect(bringing(hub, code)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    clock.advance(60_001)
    expect(await bringing(hub, code)).toMatchObject({ agent: 'alice' })
    await hub.close()
  })

  verifies('access.invite.hash', 'leave only the hash of their code in the store', async () => {
    const { hub, database } = await openHub()
    const { code } = await invite(hub, operator, inviting)
    const db = await database.connect()
    const { default: sql } = await import('sql-template-tag')
    expect(JSON.stringify(await db.all(sql`SELECT * FROM invitations`))).not.toContain(code)
    await db.close()
    await hub.close()
  })

  verifies('access.keys.newcomer', 'a key is given to an agent that is not there yet', async () => {
    const { hub } = await openHub()
    const { agent, key, created } = await createKey(hub, { caller: operator, project: '/srv/new', name: 'Dora' })
    expect([agent.name, created]).toEqual(['Dora', true])
    expect(await callerOfKey(hub, key)).toMatchObject({ kind: 'agent', agentId: agent.id })
    const again = await createKey(hub, { caller: operator, project: '/srv/new', name: 'dora' })
    expect([again.agent.id, again.created]).toEqual([agent.id, false])
    const bad = (caller: Caller, name: string) => createKey(hub, { caller, project: 'commons', name })
    await expect(bad(operator, 'no name')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(bad(operator, 'HumanOverseer')).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(bad(tokenCaller('w', true), 'eve')).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(needAgent(hub, operator, 'commons', 'eve')).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
    await hub.close()
  })
})
