/** Dead letters: how mail dies, who is told, and `parley dead-letters`. */
import { expect } from 'vitest'
import { local } from '../../../src/core/access/callers.ts'
import type { Hub } from '../../../src/core/hub/hub.ts'
import { listInbox } from '../../../src/core/mail/inbox.ts'
import { acknowledge, take } from '../../../src/core/mail/take.ts'
import { send } from '../../../src/core/messages/send.ts'
import { announce } from '../../../src/core/presence/announce.ts'
import { readThread } from '../../../src/core/threads/mail-threads.ts'
import { deadLettersCommand } from '../../../src/doors/cli/mail/dead-letters.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine } from '../../support/engines.ts'
import { as, now, openTestHub } from '../../support/hub.ts'
import { testScreen } from '../../support/screen.ts'
import { verifies } from '../../support/verifies.ts'

eachEngine('Dead letters', (open) => {
  const [ann, bob] = [as('ann'), as('bob')] as const
  const lease = { ...now, loanMs: 1000 }
  const start = async (mailboxAttempts = 2) => {
    const database = await open()
    const clock = new TestClock()
    const connect = async () => openTestHub(await database.connect(), { clock, mailboxAttempts })
    const hub = await connect()
    const write = (body: string) => send(hub, ann, { to: [{ name: 'bob' }], subject: 'Plan', body, thread: 'T-1' })
    /** Takes what is there and never confirms it. */
    const lapse = async () => {
      const taken = await take(hub, bob, lease)
      clock.advance(1000)
      return taken?.mail.body
    }
    const run = async (...args: string[]) => {
      const { seen, screen } = testScreen({ tty: false, width: 100 })
      await deadLettersCommand(connect, screen).parseAsync(args, { from: 'user' })
      return seen.out
    }
    return { clock, hub, write, lapse, run }
  }
  const inboxOf = async (hub: Hub, who: typeof ann) => (await listInbox(hub, who, { limit: 9 })).messages

  verifies(
    ['dead.letters.off', 'dead.letters.told'],
    'after its attempts a message is off the mailbox, and its sender is told once',
    async () => {
      const { hub, write, lapse } = await start()
      const { messageId } = await write('poison')
      await write('fine')
      expect([await lapse(), await lapse()]).toEqual(['poison', 'poison'])
      const next = await take(hub, bob, lease)
      expect(next?.mail.body).toBe('fine')
      await acknowledge(hub, bob, { clientId: next?.mail.clientId ?? '', loan: next?.mail.loan ?? '' })
      expect(await take(hub, bob, now)).toBeUndefined()
      expect((await inboxOf(hub, bob)).map(({ id }) => id)).not.toContain(messageId)
      expect(await announce(hub, ann, { via: 'claude', session: 's' })).toBeUndefined()
      const told = await take(hub, ann, now)
      expect(told?.mail).toMatchObject({ from: 'Parley', subject: 'Not handled: Plan' })
      expect(told?.mail.body).toContain(`Your message ${messageId}`)
      expect(told?.mail.body).toContain('to bob was handed out 2 times')
      expect(await take(hub, ann, now)).toBeUndefined()
      const { messages } = await readThread(hub, local, 'commons', { key: 'T-1', limit: 9 })
      expect(messages[0]?.to).toMatchObject([{ name: 'bob', ended: 'dead', readAt: undefined }])
    },
  )

  verifies('dead.letters.never', 'without the setting nothing dies, and a lost answer is no attempt', async () => {
    const forever = await start(0)
    await forever.write('again and again')
    for (let n = 0; n < 8; n++) expect(await forever.lapse()).toBe('again and again')
    const { hub, write, lapse } = await start()
    await write('lost')
    for (let n = 0; n < 5; n++) await (await take(hub, bob, lease))?.putBack()
    expect([await lapse(), await lapse(), await lapse()]).toEqual(['lost', 'lost', undefined])
  })

  verifies('dead.letters.steered', 'what is handed out again is announced again', async () => {
    const { hub, write, lapse, run } = await start()
    const { messageId } = await write('poison')
    const route = { via: 'claude', session: 's' }
    await (await announce(hub, bob, route))?.confirm()
    await lapse()
    await lapse()
    await take(hub, bob, now)
    expect(await announce(hub, bob, route)).toBeUndefined()
    await run('retry', String(messageId))
    expect((await announce(hub, bob, route))?.messages).toMatchObject([{ id: messageId }])
  })

  verifies('dead.letters.steered', 'people list and show them, hand one out again, and drop another', async () => {
    const { hub, write, lapse, run } = await start()
    const [one, two] = [await write('poison'), await write('more poison')]
    await write('behind them')
    for (let n = 0; n < 4; n++) await lapse()
    expect((await take(hub, bob, lease))?.mail.body).toBe('behind them')
    const rows = (await run('list')).split('\n').map((line) => line.split('\t'))
    expect(rows).toEqual([
      ['id', 'to', 'from', 'subject', 'attempts', 'died'],
      [String(two.messageId), 'bob@commons', 'ann', 'Plan', '2', expect.any(String)],
      [String(one.messageId), 'bob@commons', 'ann', 'Plan', '2', expect.any(String)],
      [''],
    ])
    expect(await run('show', String(one.messageId))).toContain('poison')
    expect(JSON.parse(await run('show', String(one.messageId), '--json'))).toMatchObject({
      dead_letters: [{ message_id: one.messageId, recipient: 'bob', attempts: 2 }],
      body_md: 'poison',
    })
    expect(await run('retry', String(one.messageId))).toBe(
      `Message ${one.messageId} is in the mailbox of bob@commons again.\n`,
    )
    expect(await lapse()).toBe('poison')
    expect(await run('drop', String(two.messageId))).toBe(`Message ${two.messageId} to bob@commons is dropped.\n`)
    expect(JSON.parse(await run('list', '--json'))).toMatchObject({ dead_letters: [] })
    await expect(run('retry', String(two.messageId))).rejects.toMatchObject({
      code: 'NOT_FOUND',
      hint: '`parley dead-letters list` shows them.',
    })
  })
})
