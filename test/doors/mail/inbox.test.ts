/** The inbox and receipts of the mail door. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Desk, newDesk } from '../../support/mail.ts'
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
      const foreign = await desk.send({ to: ['RedStone'] })
      await expect(desk.inbox('BlueLake', { after_id: foreign.message_id })).rejects.toMatchObject({
        code: 'MESSAGE_NOT_FOUND',
      })
    },
  )

  verifies('mail.inbox.urgent', 'urgent_only shows importance high and urgent', async () => {
    for (const importance of ['low', 'normal', 'high', 'urgent']) await desk.send({ importance })
    const found = await desk.inbox('BlueLake', { urgent_only: true })
    expect(found.map(({ importance }) => importance)).toEqual(['urgent', 'high'])
  })

  verifies('mail.inbox.large', 'with very large bodies an answer stays of a bearable size', async () => {
    const body_md = 'x'.repeat(1024 * 1024)
    for (let n = 0; n < 12; n++) await desk.send({ body_md })
    await desk.send({ body_md: 'short' })
    for (const limit of [13, 20, 100]) {
      const found = await desk.inbox('BlueLake', { include_bodies: true, limit })
      expect(found.map(({ body_md = '' }) => body_md.length)).toEqual([
        5,
        ...Array(7).fill(1024 * 1024),
        ...Array(5).fill(0),
      ])
    }
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
