/** The inbox and receipts of the mail door. */
import { beforeEach, describe, expect, test } from 'vitest'
import { hubDoorOf } from '../../support/hub-door.ts'
import { connectMail, type Desk, type InboxAnswer, newDesk, newProject } from '../../support/mail.ts'
import { eras, mailbox, shareServer } from '../../support/parley.ts'
import { noise, uriOf } from '../../support/pictures.ts'
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

  verifies('all.trust.doors', 'at the mail door, the hub and the mailbox', async () => {
    const elsewhere = newProject()
    for (const era of eras) {
      const door = await connectMail(parley(), era)
      await door.call('register_agent', { project_key: elsewhere, program: 'test', model: 'none', name: 'RedFox' })
      const reader = `reader-${era}`
      await mailbox(parley(), `peer-${era}`).send(reader, 'from the common project')
      await door.call('send_message', {
        project_key: elsewhere,
        sender_name: 'RedFox',
        to: [`${reader}@commons`],
        subject: 'Plan',
        body_md: 'from elsewhere',
      })
      const inbox = { project_key: 'commons', agent_name: reader }
      expect(await door.call('fetch_inbox', inbox)).toMatchObject([{ trust: 'stranger' }, { trust: 'project' }])
      const [, first] = await door.call<{ id: number }[]>('fetch_inbox', inbox)
      const thread = await hubDoorOf(parley(), reader).thread(String(first?.id))
      expect(thread.messages).toMatchObject([{ trust: 'project' }])
      await mailbox(parley(), `peer-${era}`).send(reader, 'again')
      expect(await mailbox(parley(), reader).check()).toMatchObject({ from: 'RedFox', trust: 'stranger' })
      expect(await mailbox(parley(), reader).check()).not.toHaveProperty('trust')
    }
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
    expect([found(newest), newest.has_more, newest.next_before]).toEqual([['4', '3'], true, ids[2]])
    expect(newest.note).toContain(`fetch_inbox with before_id: ${ids[2]}`)
    const older = await ask({ before_id: newest.next_before })
    expect([found(older), older.has_more, 'next_before' in older, 'note' in older]).toEqual([
      ['2', '1'],
      false,
      false,
      false,
    ])
    const first = await ask({ after_id: 0 })
    expect([found(first), first.has_more, first.next_after]).toEqual([['2', '1'], true, ids[1]])
    expect(first.note).toContain(`fetch_inbox with after_id: ${ids[1]}`)
    const rest = await ask({ after_id: first.next_after })
    expect([found(rest), rest.has_more, 'next_after' in rest]).toEqual([['4', '3'], false, false])
    const since = await ask({ since_ts: '2026-01-01' })
    expect([found(since), since.has_more, since.next_after]).toEqual([['2', '1'], true, ids[1]])
    expect(await ask({ limit: 4 })).toMatchObject({ has_more: false })
  })

  verifies('mail.inbox.more', 'the call that goes on asks for the same', async () => {
    for (let n = 0; n < 4; n++) await desk.send({ importance: n === 1 ? 'normal' : 'urgent', body_md: 'x'.repeat(900) })
    const others = { urgent_only: true, include_bodies: true, max_chars: 2000 }
    for (const range of [{}, { since_ts: '2026-01-01', before_id: 999_999_999 }, { after_id: 0, limit: 1 }]) {
      const seen: number[] = []
      for (let asked: Record<string, unknown> = { ...others, ...range }; ; ) {
        const { result, has_more, note = '' } = await desk.inboxPage('BlueLake', asked)
        expect(result).toMatchObject([{ importance: 'urgent', body_md: 'x'.repeat(900) }])
        seen.push(result[0]?.id ?? 0)
        if (!has_more) break
        // Followed to the letter, and with nothing that goes without saying.
        const [, args = ''] = /call fetch_inbox with (.*)\.$/.exec(note) ?? []
        const next = JSON.parse(`{${args.replace(/(\w+): /g, '"$1": ')}}`)
        expect(next).toMatchObject({ ...others, ...range, ...('after_id' in range && { after_id: seen.at(-1) }) })
        expect('limit' in next).toBe('limit' in range)
        asked = next
      }
      expect(new Set(seen).size).toBe(3)
    }
  })

  verifies('mail.inbox.urgent', 'urgent_only shows importance high and urgent', async () => {
    for (const importance of ['low', 'normal', 'high', 'urgent']) await desk.send({ importance })
    const found = await desk.inbox('BlueLake', { urgent_only: true })
    expect(found.map(({ importance }) => importance)).toEqual(['urgent', 'high'])
  })

  /** Every message once, page by page, as the notes tell it. */
  async function readAll(more: Record<string, unknown>, direction: 'next_after' | 'next_before') {
    const pages: InboxAnswer[] = []
    for (let range: Record<string, unknown> = more; ; ) {
      const page = await desk.inboxPage('BlueLake', { include_bodies: true, limit: 100, ...range })
      pages.push(page)
      if (!page.has_more) return pages
      expect(page.note).toContain('include_bodies: true')
      range = { ...more, [direction === 'next_after' ? 'after_id' : 'before_id']: page[direction] }
    }
  }

  verifies('mail.inbox.budget', 'an answer with bodies has whole messages in 40,000 characters', async () => {
    // Line breaks and quotes take two characters in JSON.
    const bodies = ['x'.repeat(30_000), '"\n'.repeat(6000), 'é'.repeat(9000), 'y'.repeat(60_000), 'short', 'last']
    const ids: number[] = []
    for (const body_md of bodies) ids.push((await desk.send({ body_md })).message_id)
    const sizes = (pages: InboxAnswer[]) => pages.map(({ result }) => result.map(({ body_md = '' }) => body_md.length))
    const newest = await readAll({}, 'next_before')
    expect(sizes(newest)).toEqual([[4, 5], [60_000], [9000, 12_000], [30_000]])
    const onwards = await readAll({ after_id: 0 }, 'next_after')
    expect(sizes(onwards)).toEqual([[30_000], [9000, 12_000], [60_000], [4, 5]])
    for (const pages of [newest, onwards]) {
      expect(pages.flatMap(({ result }) => result.map(({ id }) => id)).sort((a, b) => a - b)).toEqual(ids)
      for (const page of pages) {
        expect(page.result.some((message) => message.body_omitted)).toBe(false)
        if (page.result.length > 1) expect(JSON.stringify(page).length).toBeLessThanOrEqual(40_000)
      }
    }
    expect(sizes(await readAll({ max_chars: 1 }, 'next_before'))).toHaveLength(6)
    expect(sizes(await readAll({ max_chars: 1_000_000 }, 'next_before'))).toHaveLength(1)
    for (const max_chars of [0, -1, 1.5, 2_000_000])
      await expect(desk.inboxPage('BlueLake', { max_chars })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    // Without bodies the limit alone counts.
    expect(await desk.inboxPage('BlueLake', { max_chars: 1 })).toMatchObject({ result: { length: 6 }, has_more: false })
  })

  verifies('mail.inbox.budget', 'a body of 1 MiB, and an image beside the body, come whole and alone', async () => {
    const whole = 'x'.repeat(1024 * 1024)
    const image = uriOf('image/png', await noise(150, 150).png().toBuffer())
    await desk.send({ body_md: whole })
    await desk.send({ attachment_paths: [image] })
    await desk.send({ attachment_paths: [image] })
    const pages = await readAll({}, 'next_before')
    expect(pages.map(({ result }) => result.length)).toEqual([1, 1, 1])
    expect(pages[2]?.result[0]?.body_md).toBe(whole)
    for (const page of pages.slice(0, 2))
      expect(page.result[0]?.attachments).toMatchObject([{ data_uri: expect.stringMatching(/^data:image/) }])
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
      hint: expect.stringContaining('Only recipients'),
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
