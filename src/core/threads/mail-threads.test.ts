/** Threads that many projects call by one name, and the order of an outbox, on both engines. */

import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { ensureAgent } from '../agents/agents.ts'
import { listOutbox } from '../mail/inbox.ts'
import { send } from '../messages/send.ts'
import { readThread } from './mail-threads.ts'
import { summarizeThread } from './summaries.ts'

eachEngine('A thread', (open) => {
  verifies('mail.thread.many', 'is read where it is at home, and by guests, whoever else uses its key', async () => {
    const hub = await openTestHub(await (await open()).connect())
    const key = 'TKT-1'
    const say = (project: string, body: string, to: { name: string; project?: string }) =>
      send(hub, as('ann', project), { to: [to], thread: key, subject: body, body })
    for (let n = 0; n < 51; n++) await say(`/srv/p${n}`, `from p${n}`, { name: 'bob' })
    await ensureAgent(hub, local, { project: '/srv/guest', name: 'bob' })
    await say('/srv/last', 'for the guest', { name: 'bob', project: 'guest' })
    const seen = async (project: string) => [
      (await readThread(hub, local, project, { key, bodies: true, limit: 100 })).messages.map(({ subject }) => subject),
      (await summarizeThread(hub, local, { project, key, refine: false })).totalMessages,
    ]
    expect(await seen('last')).toEqual([['for the guest'], 1])
    expect(await seen('guest')).toEqual([['for the guest'], 1])
    expect(await seen('p50')).toEqual([['from p50'], 1])
    // A project that is a guest of more threads than are read sees its own among them.
    for (let n = 0; n < 51; n++) await say(`/srv/p${n}`, 'to all', { name: 'bob', project: 'guest' })
    await say('guest', 'at home', { name: 'bob' })
    const [subjects] = await seen('guest')
    expect(subjects).toContain('at home')
    await hub.close()
  })

  verifies(
    'mail.thread.many',
    'of another project is told to a guest page by page, as far as it came there',
    async () => {
      const hub = await openTestHub(await (await open()).connect())
      await ensureAgent(hub, local, { project: '/srv/guest', name: 'bob' })
      for (let n = 0; n < 130; n++) {
        const to = n % 2 === 0 ? [{ name: 'bob', project: 'guest' }] : [{ name: 'bob' }]
        await send(hub, as('ann', '/srv/home'), { to, thread: 'T', body: `The point of number${n} is made.` })
      }
      const told = await summarizeThread(hub, local, { project: 'guest', key: 'T', refine: false })
      expect(told.totalMessages).toBe(65)
      expect(told.examples.map(({ text }) => /\d+/.exec(text)?.[0])).toEqual(['0', '126', '128'])
      expect(told.keyPoints[0]).toContain('number0 ')
      expect(told.keyPoints.at(-1)).toContain('number128 ')
      await hub.close()
    },
  )
})

eachEngine('An outbox', (open) => {
  verifies(
    'mail.resource.outbox',
    'is in the order in which it was stored, also where a clock was put back, and paged so',
    async () => {
      const clock = new TestClock()
      const hub = await openTestHub(await (await open()).connect(), { clock })
      const say = async (body: string) => (await send(hub, as('ann'), { to: [{ name: 'bob' }], body })).messageId
      const begin = clock.now()
      await say('first')
      clock.advance(5000)
      await say('ahead')
      clock.advance(-3000)
      await say('put back')
      await say('same moment')
      const all = async (wish: { since?: number; before?: number | undefined } = {}, limit = 9) =>
        (await listOutbox(hub, as('ann'), { ...wish, limit, bodies: true })).messages
      const bodies = ['same moment', 'put back', 'ahead', 'first']
      expect((await all()).map(({ body }) => body)).toEqual(bodies)
      expect((await all({ since: begin + 2000 })).map(({ body }) => body)).toEqual(['ahead'])
      const paged: (string | undefined)[] = []
      let before: number | undefined
      for (;;) {
        const [message] = await all({ before }, 1)
        if (message === undefined) break
        paged.push(message.body)
        before = message.id
      }
      expect(paged).toEqual(bodies)
      await hub.close()
    },
  )
})
