/** Mail that is read at the hub: marked once, unmarked where its answer was lost, and nothing written where nothing is new. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local, tokenCaller } from '../access/callers.ts'
import { countUnread } from '../agents/agents.ts'
import { countCommits } from '../hub/hub.ts'
import { take } from '../mail/take.ts'
import { send } from '../messages/send.ts'
import { listOwnThreads, viewThread } from './hub-threads.ts'

eachEngine('What is read at the hub', (open) => {
  const begin = async () => {
    const hub = await openTestHub(await (await open()).connect())
    const bob = { caller: local, name: 'bob' }
    const { messageId } = await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'one' })
    const thread = String(messageId)
    const page = { thread, after: 0, limit: 10 }
    const unread = async () => (await listOwnThreads(hub, bob, { limit: 10 })).threads[0]?.unread
    return { hub, bob, thread, page, unread, messageId }
  }

  verifies('hub.unread.lost', 'is unread again where the answer was lost, and then taken as ever', async () => {
    const { hub, bob, page, unread } = await begin()
    const { putBack } = await viewThread(hub, bob, page)
    expect([await unread(), await countUnread(hub)]).toEqual([0, 0])
    expect(await take(hub, as('bob'), now)).toBeUndefined()
    await putBack()
    expect([await unread(), await countUnread(hub)]).toEqual([1, 1])
    const taken = await take(hub, as('bob'), now)
    expect(taken?.mail.body).toBe('one')
    // The second answer marked nothing, and its loss takes nothing back.
    const again = await viewThread(hub, bob, page)
    await again.putBack()
    expect([await unread(), await countUnread(hub)]).toEqual([0, 0])
    await hub.close()
  })

  verifies('hub.unread.lost', 'costs no write where nothing is new, nor for one who may only look', async () => {
    const { hub, bob, page, unread, thread } = await begin()
    const commits = async (work: () => Promise<unknown>) => {
      const before = countCommits(hub)
      await work()
      return countCommits(hub) - before
    }
    expect(
      await commits(() => viewThread(hub, { ...bob, caller: tokenCaller('reader', false) }, page).catch(() => 0)),
    ).toBe(0)
    expect(await unread()).toBe(1)
    expect(await commits(() => viewThread(hub, { caller: local, name: 'alice' }, page))).toBe(0)
    await viewThread(hub, bob, page)
    expect(await commits(() => viewThread(hub, bob, page))).toBe(0)
    expect(await commits(() => viewThread(hub, bob, { ...page, thread, after: 1 }))).toBe(0)
    await hub.close()
  })
})
