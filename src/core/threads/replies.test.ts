/** Asking in the core, on both engines: what ends the wait, and what a retry finds. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, now, openTestHub, type TestHubOptions } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { countWaiters, type Hub } from '../hub/hub.ts'
import { take } from '../mail/take.ts'
import { takeReply } from '../mail/take-reply.ts'
import { type Draft, send } from '../messages/send.ts'
import { sendAndAwait } from './replies.ts'

eachEngine('Asking', (open) => {
  const begin = async (options?: TestHubOptions) => openTestHub(await (await open()).connect(), options)
  const [ann, bob, cleo] = [as('ann'), as('bob'), as('cleo')] as const
  const question: Draft = { to: [{ name: 'bob' }], body: 'well?', clientId: 'q-1', mayAnswer: true }
  const patience = { waitMs: 20_000, signals: [] }
  const ask = (hub: Hub, draft: Draft = question, waitMs = patience.waitMs) =>
    sendAndAwait(hub, ann, () => send(hub, ann, draft), { ...patience, waitMs })
  const waiting = (hub: Hub) => expect.poll(() => countWaiters(hub), { interval: 1 }).toBe(1)

  verifies('ask.reply.waited', 'the first reply ends the wait; other mail of the two does not', async () => {
    const hub = await begin()
    const asked = ask(hub)
    await waiting(hub)
    await send(hub, bob, { to: [{ name: 'ann' }], body: 'something else' })
    await send(hub, cleo, { to: [{ name: 'ann' }], body: 'nor this' })
    await send(hub, bob, { to: [{ name: 'ann' }], body: 'yes', clientId: 'q-1', mayAnswer: true })
    const { sent, replyId } = await asked
    expect(sent).toMatchObject({ clientId: 'q-1', duplicate: false })
    const reply = await takeReply(hub, ann, replyId ?? 0)
    expect(reply?.mail).toMatchObject({ from: 'bob', body: 'yes', loan: undefined })
    expect(countWaiters(hub)).toBe(0)
  })

  verifies('ask.reply.waited', 'of several recipients the first who answers is enough', async () => {
    const hub = await begin()
    const asked = ask(hub, { ...question, to: [{ name: 'bob' }, { name: 'cleo' }] })
    await waiting(hub)
    const { replyId } = await send(hub, cleo, { to: [{ name: 'ann' }], body: 'me', answers: 'q-1' }).then(() => asked)
    expect((await takeReply(hub, ann, replyId ?? 0))?.mail).toMatchObject({ from: 'cleo', body: 'me' })
  })

  verifies(
    ['ask.reply.resumed', 'ask.reply.marked'],
    'the same id sends nothing, waits on, and finds a reply that was taken before',
    async () => {
      const hub = await begin()
      expect(await ask(hub, question, 0)).toMatchObject({ sent: { duplicate: false }, replyId: undefined })
      const asked = ask(hub)
      await waiting(hub)
      await send(hub, bob, { to: [{ name: 'ann' }], body: 'yes', answers: 'q-1' })
      const { sent, replyId = 0 } = await asked
      expect(sent.duplicate).toBe(true)
      expect((await takeReply(hub, ann, replyId))?.mail.body).toBe('yes')
      // It was taken: the mailbox is empty, and the next call with the id has it still.
      expect(await take(hub, ann, now)).toBeUndefined()
      expect((await ask(hub)).replyId).toBe(replyId)
      expect((await takeReply(hub, ann, replyId))?.mail.body).toBe('yes')
      expect((await take(hub, bob, now))?.mail.body).toBe('well?')
      expect(await take(hub, bob, now)).toBeUndefined()
    },
  )

  verifies('ask.reply.lost', 'a reply that is put back is the next in the mailbox', async () => {
    const hub = await begin()
    await ask(hub, question, 0)
    await send(hub, bob, { to: [{ name: 'ann' }], body: 'yes', answers: 'q-1' })
    const { replyId = 0 } = await ask(hub)
    const taken = await takeReply(hub, ann, replyId)
    expect(await take(hub, ann, now)).toBeUndefined()
    await taken?.putBack()
    expect((await take(hub, ann, now))?.mail.body).toBe('yes')
    // Taken by another call meanwhile, it is not put back by this one.
    await (await takeReply(hub, ann, replyId))?.putBack()
    expect(await take(hub, ann, now)).toBeUndefined()
  })

  verifies('ask.wait.refused', 'where no more calls may wait, nothing is sent', async () => {
    const hub = await begin({ waitsPerAgent: 1 })
    // Known from then on: waits are counted by agents.
    await send(hub, ann, { to: [{ name: 'cleo' }], body: 'hello' })
    const ended = new AbortController()
    const first = sendAndAwait(hub, ann, () => send(hub, ann, question), { waitMs: 20_000, signals: [ended.signal] })
    await waiting(hub)
    await expect(ask(hub, { ...question, clientId: 'q-2' })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    ended.abort()
    expect((await first).replyId).toBeUndefined()
    expect((await take(hub, bob, now))?.mail.clientId).toBe('q-1')
    expect(await take(hub, bob, now)).toBeUndefined()
  })
})
