/** The mail door beside the others: one hub, whichever door one comes by, also after kill -9. */
import { expect } from 'vitest'
import { httpPeer } from '../support/bus.ts'
import { type Message, newProject, type Page, plainMail, type Receipt } from '../support/mail.ts'
import { mailbox, serveHere, shareServer, startParley, temporaryFolder, waitingCalls } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

let names = 0
/** Names that no other test uses: commons is shared. */
const someone = (): string => `agent-${++names}`

const door = () => plainMail(parley())
const inbox = (project_key: string, agent_name: string) =>
  door().call<Message[]>('fetch_inbox', { project_key, agent_name, include_bodies: true })

verifies('mail.interplay.doors', 'What one door sends the other receives, and the answer comes back', async () => {
  const [alice, bob] = [someone(), someone()]
  await mailbox(parley(), alice).send(bob, 'a question', 'q-1')
  const [question] = await inbox('commons', bob)
  expect(question).toMatchObject({ from: alice, to: [bob], body_md: 'a question', read_ts: null })

  const { message_id } = await door().call<Receipt>('reply_message', {
    project_key: 'commons',
    message_id: question?.id,
    sender_name: bob,
    body_md: 'an answer',
  })
  expect(await inbox('commons', alice)).toMatchObject([{ id: message_id, read_ts: null }])
  expect(await mailbox(parley(), alice).check()).toMatchObject({ from: bob, content: 'an answer' })
  // Taken there, it is read here, and its sender can see that.
  expect(await inbox('commons', alice)).toMatchObject([{ id: message_id, read_ts: expect.any(String) }])
  expect(await door().read<Page>(`resource://outbox/${bob}?project=commons`)).toMatchObject({
    messages: [{ id: message_id, read_by: [alice] }],
  })
  expect(await door().call('whois', { project_key: 'commons', agent_name: alice })).toMatchObject({ unread_count: 0 })
})

verifies('mail.interplay.doors', 'What is marked as read here is no longer waiting there', async () => {
  const [alice, bob] = [someone(), someone()]
  const box = mailbox(parley(), bob)
  for (const text of ['first', 'second', 'third']) await mailbox(parley(), alice).send(bob, text)
  const messages = await inbox('commons', bob)
  expect(messages.map(({ body_md }) => body_md)).toEqual(['third', 'second', 'first'])
  const receipt = { project_key: 'commons', agent_name: bob }
  await door().call('mark_message_read', { ...receipt, message_id: messages[2]?.id })
  await door().call('acknowledge_message', { ...receipt, message_id: messages[0]?.id })
  expect(await box.check()).toMatchObject({ content: 'second' })
  expect(await box.check()).toBeNull()
})

verifies('mail.interplay.doors', 'A project of the mail door has mailboxes too, and keeps them to itself', async () => {
  const project_key = newProject()
  const query = `?project=${encodeURIComponent(project_key)}`
  await door().call('register_agent', { project_key, name: 'GreenCastle' })
  await door().call('register_agent', { project_key, name: 'BlueLake' })
  await door().call('send_message', {
    project_key,
    sender_name: 'GreenCastle',
    to: ['BlueLake'],
    subject: 'Plan',
    body_md: 'the plan',
  })
  expect(await mailbox(parley(), 'BlueLake').check()).toBeNull()
  const blue = mailbox(parley(), 'BlueLake', { query })
  expect(await blue.check()).toMatchObject({ from: 'GreenCastle', content: 'the plan' })
  expect(await inbox(project_key, 'BlueLake')).toMatchObject([{ subject: 'Plan', read_ts: expect.any(String) }])
  await blue.send('GreenCastle', 'thanks')
  expect(await inbox(project_key, 'GreenCastle')).toMatchObject([{ from: 'BlueLake', body_md: 'thanks' }])
  const found = await door().call<{ from: string }[]>('search_messages', { project_key, query: 'thanks' })
  expect(found).toMatchObject([{ from: 'BlueLake' }])
})

verifies('mail.interplay.contacts', 'A policy set at the mail door holds at the mailbox door', async () => {
  const project_key = newProject()
  const query = `?project=${encodeURIComponent(project_key)}`
  for (const name of ['GreenCastle', 'BlueLake']) await door().call('register_agent', { project_key, name })
  const green = mailbox(parley(), 'GreenCastle', { query })
  const blue = mailbox(parley(), 'BlueLake', { query })
  const policy = (policy: string) => door().call('set_contact_policy', { project_key, agent_name: 'BlueLake', policy })

  await policy('block_all')
  await expect(green.send('BlueLake', 'blocked')).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
  await policy('contacts_only')
  await expect(green.send('BlueLake', 'a stranger')).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
  expect(await blue.check()).toMatchObject({ from: 'GreenCastle', content: expect.stringContaining('respond_contact') })
  expect(await blue.check()).toBeNull()
  await door().call('respond_contact', {
    project_key,
    to_agent: 'BlueLake',
    from_agent: 'GreenCastle',
    accept: true,
  })
  await green.send('BlueLake', 'a contact')
  expect(await blue.check()).toMatchObject({ content: 'a contact' })
})

verifies('mail.mailbox.fields', 'check_mail shows of a message of the mail door what it has besides', async () => {
  const project_key = newProject()
  const query = `?project=${encodeURIComponent(project_key)}`
  for (const name of ['GreenCastle', 'BlueLake']) await door().call('register_agent', { project_key, name })
  const blue = mailbox(parley(), 'BlueLake', { query })
  const message = { project_key, sender_name: 'GreenCastle', to: ['BlueLake'], subject: 'Plan', body_md: 'words' }
  await door().call('send_message', message)
  await door().call('send_message', { ...message, importance: 'urgent', ack_required: true })
  await mailbox(parley(), 'GreenCastle', { query }).send('BlueLake', 'plain', 'p-1')
  const common = { id: expect.any(String), from: 'GreenCastle', content: 'words', created: expect.any(String) }
  expect(await blue.check()).toEqual({ ...common, subject: 'Plan', importance: 'normal', ack_required: false })
  expect(await blue.check({ lease_seconds: 60 })).toEqual({
    ...common,
    subject: 'Plan',
    importance: 'urgent',
    ack_required: true,
    lease: expect.any(String),
  })
  expect(await blue.check()).toEqual({ ...common, id: 'p-1', content: 'plain' })
})

verifies('mail.interplay.wakes', 'send_message wakes who waits in check_mail', async () => {
  const [alice, bob] = [someone(), someone()]
  await mailbox(parley(), alice).check()
  const waiting = mailbox(parley(), bob).check({ wait_seconds: 40 })
  await expect.poll(() => waitingCalls(parley())).toBe(1)
  const began = performance.now()
  await door().call('send_message', {
    project_key: 'commons',
    sender_name: alice,
    to: [bob],
    subject: 'Wake up',
    body_md: 'good morning',
  })
  expect(await waiting).toMatchObject({ from: alice, content: 'good morning' })
  expect(performance.now() - began).toBeLessThan(10_000)
})

verifies(
  ['mail.interplay.topics', 'mail.interplay.topic-names'],
  'A topic of the bus is read and searched as a thread of commons',
  async () => {
    const peer = httpPeer(parley(), '?agent=curator')
    const topic = await peer.join('curator', 'mail-interplay')
    await peer.send(topic, 'the quokka plan', 'second remark')
    const { messages } = await door().read<{ messages: Message[] }>(
      `resource://thread/${topic}?project=commons&include_bodies=true`,
    )
    expect(messages).toMatchObject([
      { from: 'curator', body_md: 'the quokka plan' },
      { from: 'curator', body_md: 'second remark' },
    ])
    const found = await door().call<{ id: number; from: string }[]>('search_messages', {
      project_key: 'commons',
      query: 'quokka',
    })
    expect(found).toMatchObject([{ id: messages[0]?.id, from: 'curator' }])
    // It has one thread and one subject, wherever it is shown.
    const single = await door().read<Message>(`resource://message/${messages[0]?.id}?project=commons`)
    for (const shown of [...messages, ...found, single])
      expect(shown).toMatchObject({ thread_id: topic, subject: 'mail-interplay' })
    const answer = { project_key: 'commons', sender_name: 'curator', message_id: messages[0]?.id, body_md: 'x' }
    await expect(door().call('reply_message', answer)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      hint: expect.stringMatching(/in the topic.*bus door.*send_message/),
    })
    // It was addressed to nobody, so that it is no mail.
    expect(await door().read('resource://outbox/curator?project=commons')).toMatchObject({ count: 0 })
    // No other project sees it.
    const project_key = newProject()
    await door().call('ensure_project', { human_key: project_key })
    expect(await door().call('search_messages', { project_key, query: 'quokka' })).toEqual([])
    await expect(door().read(`resource://thread/${topic}?project=${project_key}`)).rejects.toMatchObject({
      data: { code: 'THREAD_NOT_FOUND' },
    })
  },
)

verifies('mail.interplay.restart', 'After kill -9 everybody is who they were, and holds what they held', async () => {
  const storage = await temporaryFolder()
  const first = await startParley({ storage })
  const project_key = newProject()
  const before = plainMail(first)
  for (const name of ['GreenCastle', 'BlueLake', 'RedStone'])
    await before.call('register_agent', { project_key, program: 'test', model: 'none', name })
  const send = (subject: string, more = {}) =>
    before.call<Receipt>('send_message', {
      project_key,
      sender_name: 'GreenCastle',
      to: ['BlueLake'],
      subject,
      body_md: subject,
      ...more,
    })
  const [read, acked] = [await send('to be read'), await send('to be acknowledged', { ack_required: true })]
  const receipt = { project_key, agent_name: 'BlueLake' }
  await before.call('mark_message_read', { ...receipt, message_id: read.message_id })
  await before.call('acknowledge_message', { ...receipt, message_id: acked.message_id })
  await before.call('file_reservation_paths', { project_key, agent_name: 'GreenCastle', paths: ['src/**'] })
  await before.call('set_contact_policy', { project_key, agent_name: 'RedStone', policy: 'contacts_only' })
  await before.call('request_contact', { project_key, from_agent: 'GreenCastle', to_agent: 'RedStone' })
  await before.call('respond_contact', { project_key, to_agent: 'RedStone', from_agent: 'GreenCastle', accept: true })

  const everything = async (url: string) => {
    const { call, read } = plainMail({ url })
    return {
      profile: await call('whois', { project_key, agent_name: 'GreenCastle' }),
      inboxes: await Promise.all(
        ['BlueLake', 'RedStone'].map((agent_name) => call('fetch_inbox', { project_key, agent_name })),
      ),
      leases: await read(`resource://file_reservations/${encodeURIComponent(project_key)}`),
      contacts: await call('list_contacts', { project_key, agent_name: 'RedStone' }),
      outbox: await read<Page>(`resource://outbox/GreenCastle?project=${project_key}`),
      found: await call('search_messages', { project_key, query: 'acknowledged' }),
    }
  }
  const known = await everything(first.url)
  expect(known).toMatchObject({ leases: [{ path_pattern: 'src/**' }], contacts: [{ status: 'approved' }] })
  // The last answer before the end: whoever was told so can rely on it.
  const last = await send('the last word')
  await first.end('SIGKILL')

  const second = await serveHere({ storage })
  const after = plainMail(second)
  expect((await after.call<Message[]>('fetch_inbox', receipt)).map(({ id }) => id)).toContain(last.message_id)
  const { id } = known.profile
  expect(await after.call('register_agent', { project_key, name: 'greencastle' })).toMatchObject({
    id,
    name: 'GreenCastle',
    program: 'test',
  })
  const again = await everything(second.url)
  const seen = (messages: unknown) => (messages as Message[]).filter(({ id }) => id !== last.message_id)
  expect(again.inboxes.map(seen)).toEqual(known.inboxes)
  expect(seen(again.outbox.messages)).toEqual(known.outbox.messages)
  expect([again.leases, again.contacts, again.found]).toEqual([known.leases, known.contacts, known.found])
  // The lease and the contact are not only shown: they hold.
  const refused = await after.call<{ granted: unknown[]; conflicts: unknown[] }>('file_reservation_paths', {
    project_key,
    agent_name: 'BlueLake',
    paths: ['src/main.ts'],
    on_conflict: 'refuse',
  })
  expect(refused).toMatchObject({ granted: [], conflicts: [{ holders: [{ agent: 'GreenCastle' }] }] })
  const to = { project_key, to: ['RedStone'], subject: 'Hello', body_md: 'again' }
  expect(await after.call<Receipt>('send_message', { ...to, sender_name: 'GreenCastle' })).toMatchObject({ count: 1 })
  await expect(after.call('send_message', { ...to, sender_name: 'BlueLake' })).rejects.toMatchObject({
    code: 'CONTACT_REQUIRED',
  })
})

verifies('mail.interplay.restart', 'kill -9 in the middle of many sends loses none that was answered', async () => {
  const storage = await temporaryFolder()
  const project_key = newProject()
  const acknowledged: number[] = []
  for (let round = 0; round < 3; round++) {
    const server = await startParley({ storage })
    const { call } = plainMail(server)
    for (const name of ['GreenCastle', 'BlueLake']) await call('register_agent', { project_key, name })
    const enough = Promise.withResolvers<void>()
    const until = acknowledged.length + 60
    const writers = Array.from({ length: 6 }, async () => {
      for (;;) {
        // The connection breaks in the middle of the last one: whether that is stored, nobody can say.
        const receipt = await call<Receipt>('send_message', {
          project_key,
          sender_name: 'GreenCastle',
          to: ['BlueLake'],
          subject: 'Under fire',
          body_md: 'still there',
        }).catch((error: unknown) => {
          expect(error, 'an error of the hub').toBeInstanceOf(TypeError)
          return undefined
        })
        if (receipt === undefined) return
        acknowledged.push(receipt.message_id)
        if (acknowledged.length >= until) enough.resolve()
      }
    })
    await enough.promise
    await server.end('SIGKILL')
    await Promise.all(writers)
  }
  const { read } = plainMail(await serveHere({ storage }))
  const stored: number[] = []
  for (let next: string | undefined = ''; next !== undefined; ) {
    const page: Page = await read<Page>(`resource://inbox/BlueLake?project=${project_key}&limit=100${next}`)
    stored.push(...page.messages.map(({ id }) => id))
    next = page.next_before === undefined ? undefined : `&before=${page.next_before}`
  }
  expect(new Set(stored).size).toBe(stored.length)
  expect(acknowledged.filter((id) => !stored.includes(id))).toEqual([])
})
