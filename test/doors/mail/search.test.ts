/** `search_messages` as clients call it. */
import { beforeEach, describe, expect } from 'vitest'
import { connectMail, type Desk, newDesk, plainMail } from '../../support/mail.ts'
import { eras, mailbox, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

interface Hit {
  id: number
  subject: string
  from: string
  thread_id: string | null
  importance: string
  ack_required: boolean
  created_ts: string
  snippet: string
  score: number
}

let desk: Desk
beforeEach(async () => {
  desk = await newDesk(parley())
})

const find = (query: string, more: Record<string, unknown> = {}, at = desk) =>
  at.door.call<Hit[]>('search_messages', { project_key: at.project, query, ...more })

describe('search_messages', () => {
  verifies('mail.search.minus', 'leaves out what a minus stands before', async () => {
    await desk.send({ subject: 'old', body_md: 'a trombone of brass' })
    const { message_id } = await desk.send({ subject: 'new', body_md: 'a trombone of wood' })
    expect(await find('trombone -brass')).toMatchObject([{ id: message_id }])
    expect(await find('trombone -subject:old')).toMatchObject([{ id: message_id }])
  })

  verifies('mail.search.key-alone', 'finds a thread by its key alone, before others that name it', async () => {
    const first = await desk.send({ thread_id: 'TKT-404', subject: 'Zither', body_md: 'one' })
    const naming = await desk.send({ subject: 'Other', body_md: 'see TKT-404 for the zither' })
    const second = await desk.reply(first.message_id, 'BlueLake', { body_md: 'two' })
    const expected = [second.message_id, first.message_id, naming.message_id]
    expect((await find('TKT-404')).map(({ id }) => id)).toEqual(expected)
    expect((await find(' TKT-404 ', { limit: 1 })).map(({ id }) => id)).toEqual(expected.slice(0, 1))
    expect((await find('TKT-404 zither')).map(({ id }) => id)).toEqual([naming.message_id])
    // A thread without a key goes by the id of its first message.
    const alone = await desk.send({ subject: 'Alone', body_md: 'three' })
    await desk.reply(alone.message_id, 'BlueLake', { body_md: 'four' })
    expect(await find(String(alone.message_id))).toHaveLength(2)
    // Another project may name it, and sees nothing of it.
    expect(await find('TKT-404', {}, await newDesk(parley()))).toEqual([])
  })

  verifies(
    ['mail.search.notes', 'all.lists.more'],
    'tells why a query finds nothing, and whether there is more',
    async () => {
      for (const body_md of ['a bassoon', 'two bassoons', 'a bassoon and']) await desk.send({ body_md })
      const whole = (query: string, more = {}) =>
        desk.door.callWhole<{ result: Hit[]; has_more: boolean; note?: string }>('search_messages', {
          project_key: desk.project,
          query,
          ...more,
        })
      for (const query of ['NOT bassoon', '-bassoon', '***'])
        expect(await whole(query)).toEqual({
          result: [],
          has_more: false,
          total: 0,
          note: expect.stringContaining('finds nothing'),
        })
      expect(await whole('bassoon AND')).toMatchObject({ result: [{}], note: expect.stringContaining('AND') })
      expect(await whole('bassoon')).toEqual({
        result: [expect.anything(), expect.anything()],
        has_more: false,
        total: 2,
      })
      expect(await whole('bassoon', { limit: 1 })).toEqual({
        result: [expect.anything()],
        has_more: true,
        total: 2,
        note: expect.stringContaining('limit'),
      })
    },
  )

  verifies('mail.search.finds', 'finds mail as soon as it is sent, the best first', async () => {
    await desk.send({ subject: 'Lunch', body_md: 'The marmalade is on the table, with a good many other things.' })
    const { message_id, created_ts } = await desk.send({
      subject: 'Marmalade plan',
      body_md: 'First **marmalade**, then deploy.',
      thread_id: 'TKT-7',
      importance: 'high',
      ack_required: true,
    })
    const hits = await find('marmalade')
    expect(hits.map(({ subject }) => subject)).toEqual(['Marmalade plan', 'Lunch'])
    expect(hits[0]).toEqual({
      id: message_id,
      subject: 'Marmalade plan',
      from: 'GreenCastle',
      thread_id: 'TKT-7',
      importance: 'high',
      ack_required: true,
      created_ts,
      snippet: 'First ****marmalade****, then deploy.',
      score: expect.any(Number),
    })
    expect(hits[1]).toMatchObject({ thread_id: null, importance: 'normal', ack_required: false })
    expect(await find('marmalade', { limit: 1 })).toHaveLength(1)
    expect(await find('marmalade NOT deploy')).toHaveLength(1)
    expect((await find('from:greencastle thread:TKT-7')).map(({ id }) => id)).toEqual([message_id])
  })

  verifies('mail.search.finds', 'is the same for the official client in both eras', async () => {
    for (const era of eras) {
      const at = await newDesk(parley(), await connectMail(parley(), era))
      await at.send({ body_md: `quincunx of ${era}` })
      expect(await find('quincunx', {}, at)).toMatchObject([{ from: 'GreenCastle', snippet: `**quincunx** of ${era}` }])
    }
  })

  verifies('mail.search.never-raises', 'takes any query', async () => {
    await desk.send({ body_md: 'see src/api/users.ts, auth-service' })
    for (const query of ['auth-service', 'src/api/users.ts', '"auth-service" (', 'from:GreenCastle users*'])
      expect(await find(query), query).toHaveLength(1)
    for (const query of [
      '',
      ' ',
      '"',
      ')',
      'AND',
      'NOT',
      '* *',
      'thread:',
      '\0',
      '\ud800',
      "'; --",
      'x'.repeat(500_000),
    ])
      expect(await find(query), query.slice(0, 20)).toEqual([])
  })

  verifies('mail.search.visible', 'finds what the other doors sent, and nothing of other projects', async () => {
    const query = `?project=${encodeURIComponent(desk.project)}`
    await mailbox(parley(), 'BlueLake', { query }).send('GreenCastle', 'The oboe arrives\nat noon')
    expect(await find('oboe')).toMatchObject([{ subject: 'The oboe arrives', from: 'BlueLake' }])
    const other = await newDesk(parley())
    expect(await find('oboe', {}, other)).toEqual([])
    await expect(find('oboe', { project_key: '/srv/nowhere' })).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    const [slug] = (await plainMail(parley()).read<{ slug: string; human_key: string }[]>('resource://projects'))
      .filter(({ human_key }) => human_key === desk.project)
      .map(({ slug }) => slug)
    expect(await find('oboe', { project_key: slug })).toHaveLength(1)
  })

  verifies('mail.search.bcc', 'shows no blind copy, neither here nor to the project of whoever got one', async () => {
    const other = await newDesk(parley())
    const open = { project_key: other.project, agent_name: 'RedStone', policy: 'open' }
    await other.door.call('set_contact_policy', open)
    const there = `RedStone@${other.project}`
    await desk.send({ body_md: 'bassoon for one', bcc: [there, 'RedStone'] })
    await desk.send({ body_md: 'bassoon for both', cc: [there] })
    for (const query of ['RedStone', 'from:RedStone', 'bassoon RedStone']) expect(await find(query)).toEqual([])
    const here = await find('bassoon')
    expect(here.map(({ snippet }) => snippet).sort()).toEqual(['**bassoon** for both', '**bassoon** for one'])
    expect(JSON.stringify(here)).not.toContain('RedStone')
    const found = await find('bassoon', {}, other)
    expect(found).toMatchObject([{ snippet: '**bassoon** for both', from: expect.stringMatching(/^GreenCastle@/) }])
  })

  verifies('mail.search.finds', 'keeps to its limits', async () => {
    for (const limit of [0, 101, 1.5, 'many'])
      await expect(find('x', { limit })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })
})
