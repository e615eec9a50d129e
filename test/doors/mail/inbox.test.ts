/** The inbox and receipts of the mail door. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Desk, type InboxAnswer, newDesk } from '../../support/mail.ts'
import { mailbox, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

let desk: Desk
beforeEach(async () => {
  desk = await newDesk(parley())
})

describe('The inbox', () => {
  verifies('mail.inbox.order', 'is newest first, as many as asked for, and reading it changes nothing', async () => {
    for (const subject of ['one', 'two', 'three']) await desk.send({ subject })
    expect((await desk.inbox('BlueLake')).map(({ subject }) => subject)).toEqual(['three', 'two', 'one'])
    expect((await desk.inbox('BlueLake', { limit: 2 })).map(({ subject }) => subject)).toEqual(['three', 'two'])
    expect(await desk.inbox('BlueLake')).toMatchObject([{ read_ts: null }, { read_ts: null }, { read_ts: null }])
  })

  verifies('mail.inbox.since', 'since_ts shows only what came after it', async () => {
    const { created_ts } = await desk.send({ subject: 'one' })
    await expect.poll(async () => (await desk.send({ subject: 'two' })).created_ts > created_ts).toBe(true)
    const subjects = (await desk.inbox('BlueLake', { since_ts: created_ts })).map(({ subject }) => subject)
    expect(subjects[0]).toBe('two')
    expect(subjects).not.toContain('one')
    await expect(desk.inbox('BlueLake', { since_ts: 'yesterday' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  verifies(
    'mail.inbox.reads-on',
    'after_id and since_ts give what comes next, so that nothing is passed over',
    async () => {
      const { message_id, created_ts } = await desk.send({ subject: '0' })
      await expect.poll(async () => (await desk.send({ subject: '1' })).created_ts > created_ts).toBe(true)
      for (let n = 2; n <= 5; n++) await desk.send({ subject: `${n}` })
      const expected = (await desk.inbox('BlueLake')).map(({ id }) => id).filter((id) => id > message_id)
      const seen: number[] = []
      for (let after_id = message_id; ; ) {
        const news = await desk.inbox('BlueLake', { after_id, limit: 2 })
        const [newest] = news
        if (newest === undefined) break
        expect(news.map(({ id }) => id)).toEqual(news.map(({ id }) => id).sort((a, b) => b - a))
        seen.unshift(...news.map(({ id }) => id))
        after_id = newest.id
      }
      expect(seen).toEqual(expected)
      const [, second] = (await desk.inbox('BlueLake', { since_ts: created_ts, limit: 2 })).toReversed()
      expect(expected.indexOf(second?.id ?? 0)).toBeGreaterThanOrEqual(expected.length - 2)
    },
  )

  verifies('mail.inbox.after-any', 'after_id is compared: 0, the id of foreign mail, and one to come', async () => {
    const first = await desk.send({ subject: 'one' })
    const foreign = await desk.send({ to: ['RedStone'] })
    await desk.send({ subject: 'two' })
    const subjects = async (after_id: unknown) =>
      (await desk.inbox('BlueLake', { after_id })).map(({ subject }) => subject)
    for (const start of [0, '0']) expect(await subjects(start)).toEqual(['two', 'one'])
    for (const place of [first.message_id, foreign.message_id, String(foreign.message_id)])
      expect(await subjects(place)).toEqual(['two'])
    expect(await subjects(999_999_999_999_999)).toEqual([])
    for (const wrong of [-1, 1.5, 'x', '', '-1'])
      await expect(desk.inbox('BlueLake', { after_id: wrong })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  verifies('mail.inbox.more', 'says whether there is more, and where to read on', async () => {
    const ids: number[] = []
    for (const subject of ['1', '2', '3', '4']) ids.push((await desk.send({ subject })).message_id)
    const ask = (more: object) => desk.inboxPage('BlueLake', { limit: 2, ...more })
    const found = ({ result }: InboxAnswer) => result.map(({ subject }) => subject)
    const newest = await ask({})
    expect([found(newest), newest.has_more, 'next_after' in newest]).toEqual([['4', '3'], true, false])
    const first = await ask({ after_id: 0 })
    expect([found(first), first.has_more, first.next_after]).toEqual([['2', '1'], true, ids[1]])
    const rest = await ask({ after_id: first.next_after })
    expect([found(rest), rest.has_more, 'next_after' in rest]).toEqual([['4', '3'], false, false])
    const since = await ask({ since_ts: '2026-01-01' })
    expect([found(since), since.has_more, since.next_after]).toEqual([['2', '1'], true, ids[1]])
    expect(await ask({ limit: 4 })).toMatchObject({ has_more: false })
  })

  verifies('mail.inbox.urgent', 'urgent_only shows importance high and urgent', async () => {
    for (const importance of ['low', 'normal', 'high', 'urgent']) await desk.send({ importance })
    const found = await desk.inbox('BlueLake', { urgent_only: true })
    expect(found.map(({ importance }) => importance)).toEqual(['urgent', 'high'])
  })

  verifies('mail.inbox.large', 'an answer holds 1 MiB of bodies, and says how to read the others', async () => {
    const [whole, part] = ['x'.repeat(1024 * 1024), 'é'.repeat(200 * 1024)] as const
    const ids: number[] = []
    for (const body_md of [whole, part, part, part, 'short']) ids.unshift((await desk.send({ body_md })).message_id)
    for (const limit of [5, 20, 100]) {
      const { result, note } = await desk.inboxPage('BlueLake', { include_bodies: true, limit })
      expect(result.map(({ id }) => id)).toEqual(ids)
      expect(result.map(({ body_md = '' }) => body_md.length)).toEqual([5, part.length, part.length, 0, 0])
      expect(result.map((message) => message.body_omitted)).toEqual([undefined, undefined, undefined, true, true])
      expect(note).toMatch(/fetch_inbox with after_id one below/)
    }
    // The way that the note tells, and answers in which nothing is missing.
    for (const [n, id] of ids.entries()) {
      const one = await desk.inboxPage('BlueLake', { include_bodies: true, limit: 1, after_id: id - 1 })
      expect(one.result.map((message) => message.body_md)).toEqual([['short', part, part, part, whole][n]])
      expect(one.note).toBeUndefined()
    }
    const without = await desk.inboxPage('BlueLake')
    expect(without.note ?? without.result.find((message) => 'body_omitted' in message)).toBeUndefined()
  })

  test.each([0, -1, 101, 1.5])('a limit of %s is refused', async (limit) => {
    await expect(desk.inbox('BlueLake', { limit })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  verifies(
    'mail.mailbox.interplay',
    'what the mailbox door sends is here, and what it takes is read here',
    async () => {
      const query = `?project=${encodeURIComponent(desk.project)}`
      const [green, blue] = ['GreenCastle', 'BlueLake'].map((name) => mailbox(parley(), name, { query }))
      await green?.send('BlueLake', 'First line\nsecond line', 'm-1')
      expect(await desk.inbox('BlueLake')).toMatchObject([
        { from: 'GreenCastle', subject: 'First line', thread_id: null, read_ts: null },
      ])
      expect(await blue?.check()).toMatchObject({ id: 'm-1', from: 'GreenCastle' })
      expect(await desk.inbox('BlueLake')).toMatchObject([{ read_ts: expect.any(String) }])
      // And the other way round: what is marked as read here is not taken there.
      const { message_id } = await desk.send()
      await desk.door.call('mark_message_read', { project_key: desk.project, agent_name: 'BlueLake', message_id })
      expect(await blue?.check()).toBeNull()
    },
  )
})

describe('Receipts', () => {
  verifies(
    ['mail.read.once', 'mail.ack.sets-read'],
    'reading and acknowledging are noted once, and the first time stands',
    async () => {
      const { message_id } = await desk.send({ ack_required: true })
      const read = await desk.sign('mark_message_read', 'BlueLake', message_id)
      expect(read).toEqual({ message_id, read: true, read_at: expect.any(String) })
      const acked = await desk.sign('acknowledge_message', 'BlueLake', String(message_id))
      expect(acked).toEqual({
        message_id,
        acknowledged: true,
        acknowledged_at: expect.any(String),
        read_at: read.read_at,
      })
      expect(await desk.sign('acknowledge_message', 'BlueLake', message_id)).toEqual(acked)
      expect(await desk.sign('mark_message_read', 'BlueLake', message_id)).toEqual(read)
      expect(await desk.inbox('BlueLake')).toMatchObject([{ read_ts: read.read_at, ack_ts: acked.acknowledged_at }])
    },
  )

  verifies('mail.ack.alone', 'an acknowledgement of what was not read yet counts as both', async () => {
    const { message_id } = await desk.send()
    const { acknowledged_at, read_at } = await desk.sign('acknowledge_message', 'BlueLake', message_id)
    expect(read_at).toBe(acknowledged_at)
  })

  verifies('mail.ack.own', 'who wrote a message is told that only its recipients sign for it', async () => {
    const { message_id } = await desk.send()
    await expect(desk.sign('acknowledge_message', 'GreenCastle', message_id)).rejects.toMatchObject({
      code: 'MESSAGE_NOT_FOUND',
      message: `GreenCastle wrote message ${message_id}, and did not receive it.`,
      hint: expect.stringContaining('Only its recipients'),
    })
  })

  verifies('mail.errors.receipt', 'nobody can sign for a message that was not sent to it', async () => {
    const { message_id } = await desk.send()
    for (const tool of ['mark_message_read', 'acknowledge_message']) {
      for (const [agent, id] of [
        ['RedStone', message_id],
        ['GreenCastle', message_id],
        ['BlueLake', 999_999_999],
      ] as const)
        await expect(desk.sign(tool, agent, id)).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
      for (const id of ['abc', -1, 0, 1.5, '1e3'])
        await expect(desk.sign(tool, 'BlueLake', id)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
    expect(await desk.inbox('BlueLake')).toMatchObject([{ read_ts: null, ack_ts: null }])
  })
})
