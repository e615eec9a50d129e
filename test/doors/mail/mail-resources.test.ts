/** The resources that show mail. */
import { beforeEach, describe, expect, test } from 'vitest'
import { parseTime } from '../../../src/doors/mail/fields.ts'
import { type Desk, type Message, newDesk, newProject, type Page } from '../../support/mail.ts'
import { serveHere, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

let desk: Desk
beforeEach(async () => {
  desk = await newDesk(parley())
})

describe('Resources', () => {
  verifies(
    'mail.resource.inbox',
    'the inbox takes its parameters in any order, any subset, percent-decoded',
    async () => {
      const { message_id } = await desk.send({ importance: 'urgent' })
      await desk.send({ subject: 'two' })
      const encoded = encodeURIComponent(desk.project)
      const all = await desk.door.read<Page>(
        `resource://inbox/BlueLake?limit=10&include_bodies=true&project=${encoded}`,
      )
      expect(all).toMatchObject({ agent: 'BlueLake', count: 2, messages: [{ subject: 'two', body_md: 'hello' }, {}] })
      const urgent = await desk.door.read<Page>(`resource://inbox/Blue%4Cake?urgent_only=true&project=${desk.project}`)
      expect(urgent.messages.map(({ id }) => id)).toEqual([message_id])
    },
  )

  verifies('mail.resource.paging', 'a long list comes in pages', async () => {
    for (let n = 1; n <= 5; n++) await desk.send({ subject: `${n}`, thread_id: 'long' })
    const subjects: string[] = []
    for (let before = ''; ; ) {
      const page: Page = await desk.resource('inbox/BlueLake', `&limit=2${before}`)
      subjects.push(...page.messages.map(({ subject }) => subject))
      expect(page.note?.includes(`before=${page.next_before}`) ?? false).toBe(page.has_more)
      if (page.next_before === undefined) break
      before = `&before=${page.next_before}`
    }
    expect(subjects).toEqual(['5', '4', '3', '2', '1'])
    const first = await desk.resource<{ messages: Message[]; next_after: number }>('thread/long', '&limit=3')
    const rest = await desk.resource<{ messages: Message[]; next_after?: number }>(
      'thread/long',
      `&limit=3&after=${first.next_after}`,
    )
    expect([...first.messages, ...rest.messages].map(({ subject }) => subject)).toEqual(['1', '2', '3', '4', '5'])
    expect(rest.next_after).toBeUndefined()
  })

  verifies(
    ['mail.resource.onwards', 'mail.inbox.more'],
    'from since_ts or after the inbox pages forward, and every message is shown once',
    async () => {
      for (let n = 1; n <= 7; n++) await desk.send({ subject: `${n}` })
      for (const start of ['&since_ts=2026-01-01', '&after=0']) {
        const subjects: string[] = []
        for (let query = start; ; ) {
          const page = await desk.resource('inbox/BlueLake', `&limit=3${query}`)
          subjects.push(...page.messages.toReversed().map(({ subject }) => subject))
          expect([page.has_more, page.next_before]).toEqual([page.next_after !== undefined, undefined])
          if (page.next_after === undefined) break
          query = `${start.startsWith('&since') ? start : ''}&after=${page.next_after}`
        }
        expect(subjects).toEqual(['1', '2', '3', '4', '5', '6', '7'])
      }
    },
  )

  verifies('mail.inbox.more', 'the other lists say it too, and the last page says that it is the last', async () => {
    for (let n = 1; n <= 2; n++) await desk.send({ thread_id: 'T', importance: 'urgent', ack_required: true })
    const lists = ['mailbox/BlueLake', 'outbox/GreenCastle', 'thread/T', 'inbox/BlueLake']
    const views = ['urgent-unread', 'ack-required', 'acks-stale', 'ack-overdue'].map((view) => `views/${view}/BlueLake`)
    for (const path of [...lists, ...views]) {
      const old = path.includes('stale') ? '&ttl_seconds=0' : path.includes('overdue') ? '&ttl_minutes=0' : ''
      const pages = [await desk.resource(path, `&limit=1${old}`), await desk.resource(path, `&limit=2${old}`)]
      expect(pages.map(({ count, has_more }) => [count, has_more])).toEqual([
        [1, true],
        [2, false],
      ])
      expect('next_before' in (pages[1] ?? {}) || 'next_after' in (pages[1] ?? {})).toBe(false)
    }
  })

  verifies(
    'mail.inbox.large',
    'bodies are left out of outbox, inbox and thread too, and can be read singly',
    async () => {
      const body_md = 'x'.repeat(600 * 1024)
      const ids: number[] = []
      for (let n = 0; n < 2; n++) ids.push((await desk.send({ thread_id: 'T', body_md })).message_id)
      for (const [path, way] of [
        ['outbox/GreenCastle', 'resource://message/{id}'],
        ['thread/T', 'resource://message/{id}'],
        ['inbox/BlueLake', 'after one below its id'],
      ] as const) {
        const { messages, note } = await desk.resource(path, '&include_bodies=true')
        expect(messages.map(({ body_md = '' }) => body_md.length).sort()).toEqual([0, body_md.length])
        expect(messages.find((message) => message.body_omitted)?.id).toBe(ids[0])
        expect(note).toContain(way)
      }
      expect(await desk.resource(`message/${ids[0]}`)).toMatchObject({ body_md })
      const read = await desk.resource('inbox/BlueLake', `&include_bodies=true&limit=1&after=${Number(ids[0]) - 1}`)
      expect(read.messages).toMatchObject([{ id: ids[0], body_md }])
    },
  )

  verifies(
    'mail.resource.outbox',
    'the outbox shows the sender everybody, and who has read and confirmed',
    async () => {
      const { message_id } = await desk.send({ cc: ['RedStone'], bcc: ['WhiteOwl'], ack_required: true })
      for (const agent_name of ['BlueLake', 'WhiteOwl'])
        await desk.door.call('acknowledge_message', { project_key: desk.project, agent_name, message_id })
      const { messages } = await desk.resource('outbox/GreenCastle', '&include_bodies=true')
      expect(messages).toMatchObject([
        {
          to: ['BlueLake'],
          cc: ['RedStone'],
          bcc: ['WhiteOwl'],
          read_by: ['BlueLake', 'WhiteOwl'],
          ack_by: ['BlueLake', 'WhiteOwl'],
          body_md: 'hello',
        },
      ])
      expect(await desk.resource('outbox/BlueLake')).toMatchObject({ count: 0, messages: [] })
    },
  )

  verifies('mail.resource.mailbox', 'the mailbox shows the latest messages', async () => {
    await desk.send()
    expect(await desk.resource('mailbox/BlueLake', '&limit=5')).toMatchObject({
      count: 1,
      messages: [{ subject: 'Plan' }],
    })
  })

  verifies('mail.resource.message', 'a message is shown with its body, to its own project only', async () => {
    const { message_id } = await desk.send()
    expect(await desk.resource(`message/${message_id}`)).toMatchObject({ id: message_id, body_md: 'hello' })
    const other = newProject()
    await desk.door.call('ensure_project', { human_key: other })
    const foreign = desk.door.read(`resource://message/${message_id}?project=${encodeURIComponent(other)}`)
    await expect(foreign).rejects.toMatchObject({ message: expect.stringContaining('no message') })
  })

  verifies('mail.resource.overdue', 'the setting says how long is too long, where nobody does', async () => {
    const view = async (at: { url: string }, uri: string) => {
      const desk = await newDesk(at)
      await desk.send({ ack_required: true })
      return desk.resource(`views/${uri}/BlueLake`)
    }
    const usual = parley()
    expect(await view(usual, 'acks-stale')).toMatchObject({ ttl_seconds: 1800, count: 0 })
    expect(await view(usual, 'ack-overdue')).toMatchObject({ ttl_minutes: 30, count: 0 })
    const strict = await serveHere({ env: { ACK_TTL_SECONDS: '90' } })
    expect(await view(strict, 'acks-stale')).toMatchObject({ ttl_seconds: 90, count: 0 })
    expect(await view(strict, 'ack-overdue')).toMatchObject({ ttl_minutes: 1.5, count: 0 })
    const desk = await newDesk(await serveHere({ env: { ACK_TTL_SECONDS: '1' } }))
    const { message_id } = await desk.send({ ack_required: true })
    for (const uri of ['acks-stale', 'ack-overdue'])
      await expect
        .poll(async () => (await desk.resource(`views/${uri}/BlueLake`)).messages.map(({ id }) => id), {
          timeout: 5000,
        })
        .toEqual([message_id])
  })

  verifies('mail.resource.views', 'the views show what waits for an agent', async () => {
    const urgent = await desk.send({ importance: 'urgent' })
    const wanted = await desk.send({ ack_required: true })
    const ids = async (uri: string, query = '') =>
      (await desk.resource(`views/${uri}/BlueLake`, query)).messages.map(({ id }) => id)
    expect(await ids('urgent-unread')).toEqual([urgent.message_id])
    expect(await ids('ack-required')).toEqual([wanted.message_id])
    expect(await ids('ack-overdue')).toEqual([])
    expect(await ids('acks-stale')).toEqual([])
    await expect.poll(() => ids('acks-stale', '&ttl_seconds=1'), { timeout: 5000 }).toEqual([wanted.message_id])
    expect(await desk.resource('views/ack-overdue/BlueLake', '&ttl_minutes=5')).toMatchObject({
      ttl_minutes: 5,
      count: 0,
    })
    await desk.door.call('acknowledge_message', {
      project_key: desk.project,
      agent_name: 'BlueLake',
      message_id: wanted.message_id,
    })
    await desk.door.call('mark_message_read', {
      project_key: desk.project,
      agent_name: 'BlueLake',
      message_id: urgent.message_id,
    })
    expect([await ids('urgent-unread'), await ids('ack-required'), await ids('acks-stale', '&ttl_seconds=1')]).toEqual([
      [],
      [],
      [],
    ])
  })

  verifies('mail.resource.parameters', 'a parameter that a resource has not is told, with those it has', async () => {
    const told = (hint: string) => ({ code: -32602, data: { code: 'INVALID_ARGUMENT', hint } })
    await expect(desk.resource('mailbox/BlueLake', '&limit=5&colour=red')).rejects.toMatchObject({
      message: expect.stringContaining('no parameter "colour"'),
      ...told('Parameters of this resource: project, limit, before.'),
    })
    await expect(desk.door.read('resource://tooling/locks?all=true')).rejects.toMatchObject(told('It takes none.'))
    await expect(desk.door.read('resource://nothing?colour=red')).rejects.toMatchObject({
      message: expect.stringContaining('not found'),
    })
  })

  test.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31 12:00', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123Z'],
    ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31T12:00:00-0530', '2026-01-31T17:30:00.000Z'],
    // A "+" that was not escaped in a URI.
    ['2026-01-31T12:00:00 02:00', '2026-01-31T10:00:00.000Z'],
    ['2026-01-31 12:00 0200', '2026-01-31T10:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(new Date(parseTime(text) ?? 0).toISOString()).toBe(time)
  })

  test.each(['', 'soon', '2026-13-01', '2026-01-31T25:00', '2026-01-31T12:00 2', '2026-01-31T12:00+99:99'])(
    '%j is no time',
    (text) => {
      expect(parseTime(text)).toBeUndefined()
    },
  )

  verifies('mail.inbox.since', 'since_ts of a resource may have a "+" that nobody escaped', async () => {
    await desk.send()
    const { count } = await desk.resource('inbox/BlueLake', '&since_ts=2026-01-01T00:00:00+00:00')
    expect(count).toBe(1)
  })

  test.each(['limit=0', 'limit=-1', 'limit=x', 'since_ts=soon', 'before=x'])(
    '%s is refused with a hint',
    async (query) => {
      await expect(desk.resource('inbox/BlueLake', `&${query}`)).rejects.toMatchObject({
        message: expect.stringContaining(query.split('=')[0] ?? ''),
      })
    },
  )
})
