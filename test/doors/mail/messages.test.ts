/** Sending and replying at the mail door. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Desk, type Message, newDesk, newProject } from '../../support/mail.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

let desk: Desk
beforeEach(async () => {
  desk = await newDesk(parley())
})

const reach = expect.objectContaining({ state: expect.any(String), text: expect.any(String) })

describe('Sending', () => {
  verifies(
    ['mail.send.receipt', 'mail.send.list-shape'],
    'a send answers with a receipt that echoes no body, and the message is in the inbox as it was sent',
    async () => {
      const sent = await desk.send({ cc: ['RedStone'], importance: 'high', ack_required: true, thread_id: 'TKT-1' })
      expect(sent).toEqual({
        message_id: expect.any(Number),
        thread_id: 'TKT-1',
        subject: 'Plan',
        created_ts: expect.stringMatching(/^\d{4}-.*Z$/),
        deliveries: [
          { recipient: 'BlueLake', project: expect.stringMatching(/^project-/), kind: 'to', reach },
          { recipient: 'RedStone', project: expect.any(String), kind: 'cc', reach },
        ],
        count: 2,
        blocked: [],
      })
      const expected = {
        id: sent.message_id,
        thread_id: 'TKT-1',
        subject: 'Plan',
        from: 'GreenCastle',
        to: ['BlueLake'],
        cc: ['RedStone'],
        importance: 'high',
        ack_required: true,
        created_ts: sent.created_ts,
        read_ts: null,
        ack_ts: null,
        attachments: [],
        trust: 'project',
      }
      expect(await desk.inbox('BlueLake')).toEqual([{ ...expected, kind: 'to' }])
      expect(await desk.inbox('RedStone', { include_bodies: true })).toEqual([
        { ...expected, kind: 'cc', body_md: 'hello' },
      ])
      expect(await desk.inbox('GreenCastle')).toEqual([])
    },
  )

  verifies('mail.send.once', 'an agent that is named twice gets the message once, as the first way says', async () => {
    const sent = await desk.send({ to: ['BlueLake', 'bluelake'], cc: ['BLUELAKE'], bcc: ['RedStone'] })
    expect(sent.deliveries).toMatchObject([
      { recipient: 'BlueLake', kind: 'to' },
      { recipient: 'RedStone', kind: 'bcc' },
    ])
    expect(await desk.inbox('BlueLake')).toHaveLength(1)
  })

  verifies(
    'mail.send.retry',
    'a retry with the same client_message_id stores nothing and gets the same receipt',
    async () => {
      const first = await desk.send({ client_message_id: 'x-1', thread_id: 'T', cc: ['RedStone'] })
      const again = { ...first, duplicate: true }
      expect(first).not.toHaveProperty('duplicate')
      expect(await desk.send({ client_message_id: 'x-1', thread_id: 'T', cc: ['RedStone'], body_md: 'other' })).toEqual(
        again,
      )
      // Into the same thread it is a retry too, though somebody else was named.
      expect(await desk.send({ client_message_id: 'x-1', thread_id: 'T', to: ['GreenCastle'] })).toEqual(again)
      expect(await desk.inbox('BlueLake', { include_bodies: true })).toMatchObject([{ body_md: 'hello' }])
      expect((await desk.send({ client_message_id: 'x-2' })).message_id).not.toBe(first.message_id)
    },
  )

  verifies('mail.send.text-recipient', 'a single recipient may be given as a text', async () => {
    expect((await desk.send({ to: 'BlueLake', cc: 'RedStone' })).count).toBe(2)
  })

  verifies('mail.thread.number', 'a thread may be named by a number', async () => {
    const first = await desk.send({ thread_id: 123 })
    expect(first.thread_id).toBe('123')
    expect((await desk.send({ thread_id: '123' })).thread_id).toBe('123')
    for (const [tool, args] of [
      ['summarize_thread', { thread_id: 123 }],
      ['macro_prepare_thread', { thread_id: 123, agent_name: 'BlueLake' }],
      ['summarize_threads', { thread_ids: [123, '123'] }],
    ] as const)
      expect(JSON.stringify(await desk.door.call(tool, { project_key: desk.project, ...args })), tool).toContain(
        '"total_messages":2',
      )
    for (const thread_id of [1.5, -1, true])
      await expect(desk.send({ thread_id })).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('"thread_id"'),
      })
  })

  verifies('mail.recipient.made', 'a name that nobody has yet is made into an agent of the project', async () => {
    expect(await desk.send({ to: ['NewComer'] })).toMatchObject({ count: 1, blocked: [] })
    expect(await desk.inbox('NewComer')).toHaveLength(1)
  })

  verifies('mail.recipient.elsewhere', 'Name@project is an agent of another project, by slug or key', async () => {
    const other = newProject()
    await desk.door.call('register_agent', { project_key: other, name: 'BlueLake' })
    await desk.door.call('set_contact_policy', { project_key: other, agent_name: 'BlueLake', policy: 'open' })
    const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: other })
    for (const address of [`BlueLake@${other}`, `bluelake@${slug}`])
      expect((await desk.send({ to: [address] })).deliveries).toEqual([
        { recipient: 'BlueLake', project: slug, kind: 'to', reach },
      ])
    expect(await desk.inbox('BlueLake')).toEqual([])
    const there = await desk.door.call<Message[]>('fetch_inbox', { project_key: other, agent_name: 'BlueLake' })
    const home = (await desk.door.call<{ slug: string }>('ensure_project', { human_key: desk.project })).slug
    expect(there).toMatchObject([{ from: `GreenCastle@${home}`, to: ['BlueLake'] }, {}])
  })

  describe('refuses, and changes nothing:', () => {
    verifies('mail.errors.sender', 'a sender that is not registered, with the call that registers one', async () => {
      await expect(desk.send({ sender_name: 'NobodyHere' })).rejects.toMatchObject({
        code: 'AGENT_NOT_FOUND',
        hint: expect.stringContaining('register_agent'),
      })
    })

    verifies('mail.errors.project', 'a project that does not exist, with the call that makes one', async () => {
      await expect(desk.send({ project_key: '/srv/repos/nowhere' })).rejects.toMatchObject({
        code: 'PROJECT_NOT_FOUND',
        hint: expect.stringContaining('ensure_project'),
      })
    })

    verifies('mail.errors.project-elsewhere', "a recipient's project that does not exist, to be checked", async () => {
      const check = {
        code: 'PROJECT_NOT_FOUND',
        hint: expect.stringMatching(
          /^Check the address(?!.*(ensure_project|macro_start_session)).*resource:\/\/projects/,
        ),
      }
      await expect(desk.send({ to: ['BlueLake@frontend'] })).rejects.toMatchObject(check)
      const contact = { project_key: desk.project, from_agent: 'GreenCastle', to_agent: 'BlueLake' }
      await expect(desk.door.call('request_contact', { ...contact, to_project: 'frontend' })).rejects.toMatchObject(
        check,
      )
      await expect(
        desk.door.call('respond_contact', { ...contact, from_project: 'frontend', accept: true }),
      ).rejects.toMatchObject(check)
    })

    test.each([
      ['no recipient', { to: [] }],
      ['a recipient that is no name', { to: ['not a name'] }],
      ['an empty subject', { subject: '  ' }],
      ['a subject of 256 characters', { subject: 'x'.repeat(256) }],
      ['a subject of two lines', { subject: 'a\nb' }],
      ['an empty body', { body_md: '' }],
      ['an unknown importance', { importance: 'asap' }],
      ['a thread id with a line break', { thread_id: 'a\nb' }],
      ['a thread id of 129 characters', { thread_id: 'x'.repeat(129) }],
      ['an unknown argument', { attachment: 'x' }],
    ])('%s', async (_what, more) => {
      await expect(desk.send(more)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', hint: expect.any(String) })
      expect(await desk.inbox('BlueLake')).toEqual([])
    })

    verifies(
      'mail.recipient.unknown-elsewhere',
      'an unknown agent of another project, and tells all of them',
      async () => {
        const other = newProject()
        await desk.door.call('ensure_project', { human_key: other })
        await expect(desk.send({ to: ['BlueLake', `ann@${other}`, `bob@${other}`] })).rejects.toMatchObject({
          code: 'AGENT_NOT_FOUND',
          message: expect.stringMatching(/ann@.*bob@/),
        })
        expect(await desk.inbox('BlueLake')).toEqual([])
      },
    )
  })
})

describe('Threads', () => {
  verifies('mail.thread.key', 'messages with one thread_id are one thread, oldest first', async () => {
    await desk.send({ thread_id: 'bd-123', body_md: 'one' })
    await desk.send({ thread_id: 'bd-123', sender_name: 'BlueLake', to: ['RedStone'], body_md: 'two' })
    const thread = await desk.resource<{ project: string; thread_id: string; messages: Message[] }>(
      'thread/bd-123',
      '&include_bodies=true',
    )
    expect(thread).toMatchObject({ thread_id: 'bd-123', messages: [{ body_md: 'one' }, { body_md: 'two' }] })
    expect((await desk.resource<{ messages: Message[] }>('thread/bd-123')).messages[0]).not.toHaveProperty('body_md')
  })

  verifies(
    ['mail.reply.thread', 'mail.thread.own'],
    'a message without a thread is its own, whose id is the id of the message once somebody replies',
    async () => {
      const { message_id, thread_id } = await desk.send()
      expect(thread_id).toBeNull()
      const answer = await desk.reply(message_id, 'BlueLake')
      expect(answer).toMatchObject({ thread_id: String(message_id), reply_to: message_id, count: 1 })
      expect(await desk.inbox('BlueLake')).toMatchObject([{ id: message_id, thread_id: String(message_id) }])
      const { messages } = await desk.resource<{ messages: Message[] }>(`thread/${message_id}`)
      expect(messages.map(({ id }) => id)).toEqual([message_id, answer.message_id])
      // A message that names the thread continues it.
      const third = await desk.send({ thread_id: String(message_id) })
      expect((await desk.resource<{ messages: Message[] }>(`thread/${message_id}`)).messages).toHaveLength(3)
      expect(third.thread_id).toBe(String(message_id))
    },
  )

  verifies(
    'mail.reply.recipients',
    'a reply goes to whoever wrote; to one’s own message, to those it went to',
    async () => {
      const { message_id } = await desk.send({ to: ['BlueLake', 'RedStone'], bcc: ['GreenCastle'] })
      expect((await desk.reply(message_id, 'BlueLake')).deliveries).toMatchObject([
        { recipient: 'GreenCastle', kind: 'to' },
      ])
      expect((await desk.reply(message_id, 'GreenCastle')).deliveries).toMatchObject([
        { recipient: 'BlueLake' },
        { recipient: 'RedStone' },
      ])
      const named = await desk.reply(message_id, 'BlueLake', { to: ['RedStone'], cc: ['GreenCastle'] })
      expect(named.deliveries).toMatchObject([
        { recipient: 'RedStone', kind: 'to' },
        { recipient: 'GreenCastle', kind: 'cc' },
      ])
    },
  )

  verifies('mail.reply.flags', 'a reply inherits subject, importance and the wish for an acknowledgement', async () => {
    const { message_id } = await desk.send({ importance: 'urgent', ack_required: true })
    const first = await desk.reply(String(message_id), 'BlueLake')
    expect(first.subject).toBe('Re: Plan')
    expect((await desk.reply(first.message_id, 'GreenCastle')).subject).toBe('Re: Plan')
    expect((await desk.reply(message_id, 'BlueLake', { subject_prefix: 'Fwd:' })).subject).toBe('Fwd: Plan')
    expect(await desk.inbox('BlueLake', { limit: 1 })).toMatchObject([{ importance: 'urgent', ack_required: true }])
    const long = await desk.send({ subject: 'x'.repeat(255) })
    expect((await desk.reply(long.message_id, 'BlueLake')).subject).toBe('x'.repeat(255))
  })

  verifies('mail.reply.own-flags', 'a reply that says otherwise inherits neither', async () => {
    const { message_id } = await desk.send({ importance: 'urgent', ack_required: true })
    await desk.reply(message_id, 'BlueLake', { importance: 'low', ack_required: false })
    await desk.reply(message_id, 'BlueLake', { importance: 'high' })
    expect(await desk.inbox('GreenCastle')).toMatchObject([
      { importance: 'high', ack_required: true },
      { importance: 'low', ack_required: false },
    ])
  })

  verifies('mail.errors.message', 'an unknown message, or one of another project, cannot be answered', async () => {
    const { message_id } = await desk.send()
    const other = newProject()
    await desk.door.call('register_agent', { project_key: other, name: 'RedStone' })
    for (const id of [message_id, 999_999_999])
      await expect(
        desk.door.call('reply_message', { project_key: other, message_id: id, sender_name: 'RedStone', body_md: 'x' }),
      ).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND', hint: expect.stringContaining('fetch_inbox') })
  })
})
