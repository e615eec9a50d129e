/** Agents and projects that a call would make: on both engines, a call that is refused leaves none of them behind. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub, registered, type TestHubOptions } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { setContactPolicy } from '../contacts/links.ts'
import { inside } from '../hub/hub.ts'
import { acknowledge } from '../mail/take.ts'
import { join } from '../topics/members.ts'
import { remark } from '../topics/remarks.ts'
import { deleteTopic } from '../topics/removal.ts'
import { closeTopic, createTopic } from '../topics/topics.ts'
import { send } from './send.ts'

const project = '/srv/app'
const body = 'hello'

eachEngine('A call that would make an agent', (open) => {
  const start = async (options: TestHubOptions = {}) => {
    const hub = await openTestHub(await (await open()).connect(), options)
    const { db } = hub[inside]
    return {
      hub,
      /** The agents, and how many projects there are beside commons. */
      made: async () => [
        ...(await db.all<{ name: string }>(sql`SELECT name FROM agents ORDER BY id`)).map(({ name }) => name),
        (await db.all<{ n: number }>(sql`SELECT COUNT(*) AS n FROM projects WHERE slug <> 'commons'`))[0]?.n,
      ],
    }
  }

  verifies('all.calls.nothing-made', 'makes it with its message, and with its project', async () => {
    const { hub, made } = await start()
    await send(hub, as('alice', project), { to: [{ name: 'Alice' }, { name: 'bob' }, { name: 'BOB' }], body })
    expect(await made()).toEqual(['alice', 'bob', 1])
    await hub.close()
  })

  verifies('all.calls.nothing-made', 'makes no sender if the message is refused', async () => {
    const { hub, made } = await start({ mailboxDepth: 1 })
    for (const name of ['shy', 'full']) await ensureAgent(hub, local, { project, name })
    await setContactPolicy(hub, registered('shy', project), 'block_all')
    await send(hub, as('shy', project), { to: [{ name: 'full' }], body })
    const before = await made()
    for (const [name, code] of [
      ['shy', 'CONTACT_BLOCKED'],
      ['full', 'MAILBOX_FULL'],
    ] as const) {
      await expect(send(hub, as('new', project), { to: [{ name }], body })).rejects.toMatchObject({ code })
      // Its project would be new as well.
      const to = [{ name, project }]
      await expect(send(hub, as('new', '/srv/new'), { to, body })).rejects.toMatchObject({ code })
    }
    await expect(send(hub, as('new', 'aap'), { to: [{ name: 'shy' }], body })).rejects.toMatchObject({
      code: 'PROJECT_NOT_FOUND',
    })
    expect(await made()).toEqual(before)
    await hub.close()
  })

  verifies('all.calls.nothing-made', 'makes no recipient that the sender may not write to', async () => {
    const { hub, made } = await start()
    await ensureAgent(hub, local, { project, name: 'alice', policy: 'auto' })
    const to = [{ name: 'stranger' }]
    const cold = send(hub, registered('alice', project), { to, body, handshake: false })
    await expect(cold).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
    expect(await made()).toEqual(['alice', 1])
    await send(hub, registered('alice', project), { to, body })
    expect(await made()).toEqual(['alice', 'stranger', 1])
    await hub.close()
  })

  verifies('all.calls.nothing-made', 'keeps a sender whose refused message asked for contact', async () => {
    const { hub, made } = await start()
    await ensureAgent(hub, local, { project, name: 'shy', policy: 'contacts_only' })
    await expect(send(hub, as('new', project), { to: [{ name: 'shy' }], body })).rejects.toMatchObject({
      code: 'CONTACT_REQUIRED',
      message: expect.stringContaining('request is filed'),
    })
    expect(await made()).toEqual(['shy', 'new', 1])
    await hub.close()
  })

  verifies('all.calls.nothing-made', 'makes nobody who confirms mail or speaks in a topic in vain', async () => {
    const { hub, made } = await start()
    const topic = await createTopic(hub, local, project, { name: 'plan', mode: 'new' })
    const acting = as('new', project)
    const outgoing = { body, kind: 'message' }
    await expect(acknowledge(hub, acting, { clientId: 'x', loan: 'y' })).rejects.toMatchObject({
      code: 'MESSAGE_NOT_FOUND',
    })
    await closeTopic(hub, local, project, { uid: topic.uid })
    await expect(remark(hub, acting, { topic, outgoing })).rejects.toMatchObject({ code: 'TOPIC_CLOSED' })
    await deleteTopic(hub, local, topic)
    await expect(remark(hub, acting, { topic, outgoing })).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
    const holder = { caller: local, project, key: 'url:new' }
    await expect(join(hub, holder, { topic, name: 'new', token: undefined })).rejects.toMatchObject({
      code: 'TOPIC_NOT_FOUND',
    })
    expect(await made()).toEqual([1])
    await hub.close()
  })
})
