/** Attacks on the mail door by callers that want to see or reach more than they may, each written out. */
import { describe, expect } from 'vitest'
import { countRows } from '../support/counting.ts'
import { correspond, type Message, newProject, type Page, plainMail, type Receipt } from '../support/mail.ts'
import { mailbox, shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()
const door = () => plainMail(parley())

type Json = Record<string, unknown>

const { people, send } = correspond(door)

const policy = (project_key: string, agent_name: string, policy: string) =>
  door().call('set_contact_policy', { project_key, agent_name, policy })

const inbox = (project_key: string, agent_name: string) =>
  door().call<Message[]>('fetch_inbox', { project_key, agent_name, include_bodies: true, limit: 100 })

/** The answer of a call, or its error: both can give something away. */
const shown = (work: Promise<unknown>): Promise<string> =>
  work.then(
    (value) => JSON.stringify(value),
    (error: unknown) => JSON.stringify(error),
  )

describe('Blind copies', () => {
  const [word, thread] = ['zanzibar', 'TKT-900']

  /** Everything that can be read in a project, as any of these agents where an agent has to be named. */
  async function everything(project: string, agents: readonly string[], { message_id }: Receipt) {
    const { call, read } = door()
    const there = { project_key: project }
    const query = `project=${encodeURIComponent(project)}`
    const mine = agents.flatMap((agent) => [
      ...['inbox', 'mailbox', 'outbox'].map((list) => `${list}/${agent}?${query}`),
      `inbox/${agent}?${query}&include_bodies=true&limit=100`,
      `views/urgent-unread/${agent}?${query}`,
      `views/ack-required/${agent}?${query}`,
      `views/acks-stale/${agent}?${query}&ttl_seconds=0`,
      `views/ack-overdue/${agent}?${query}&ttl_minutes=0`,
      `tooling/capabilities/${agent}?${query}`,
      `tooling/recent/3600?agent=${agent}&${query}`,
    ])
    const common = [
      `message/${message_id}?${query}`,
      `thread/${thread}?${query}&include_bodies=true`,
      `thread/${message_id}?${query}&include_bodies=true`,
      `file_reservations/${encodeURIComponent(project)}?active_only=false`,
      'config/environment',
      'tooling/directory',
      'tooling/schemas',
      'tooling/metrics',
      'tooling/locks',
      'projects',
    ]
    const queries = [word, 'Plan', 'hello', 'from:GreenCastle', `thread:${thread}`, 'SilverFox', 'HiddenOtter']
    const odd = ['from:SilverFox', 'to:SilverFox', 'bcc:SilverFox', 'bcc:HiddenOtter', 'HiddenOtter@*', 'bcc', 'blind*']
    const calls: [string, Json][] = [
      ...agents.flatMap((agent_name): [string, Json][] => [
        ['fetch_inbox', { ...there, agent_name, include_bodies: true, limit: 100 }],
        ['whois', { ...there, agent_name }],
        ['list_contacts', { ...there, agent_name }],
        ['mark_message_read', { ...there, agent_name, message_id }],
        ['acknowledge_message', { ...there, agent_name, message_id }],
        ['macro_prepare_thread', { ...there, agent_name, thread_id: thread, include_inbox_bodies: true }],
        ['macro_start_session', { human_key: project, agent_name }],
      ]),
      ...[...queries, ...odd].map((query): [string, Json] => ['search_messages', { ...there, query, limit: 100 }]),
      ['summarize_thread', { ...there, thread_id: thread, include_examples: true }],
      ['summarize_threads', { ...there, thread_ids: [thread, String(message_id)] }],
    ]
    const answers: Record<string, string> = {}
    for (const path of [...mine, ...common]) answers[path] = await shown(read(`resource://${path}`))
    for (const [tool, args] of calls) answers[`${tool} ${JSON.stringify(args)}`] = await shown(call(tool, args))
    // The agents at work in a project are no secret; the recipients of a copy are.
    for (const [key, text] of Object.entries(answers))
      if (key.startsWith('macro_start_session'))
        answers[key] = JSON.stringify({ ...(JSON.parse(text) as Json), active_agents: undefined })
    return answers
  }

  /** Answers that show one of these words; a query repeats its own words and is no finding. */
  const showing = (answers: Record<string, string>, ...words: string[]) =>
    Object.entries(answers).filter(([, answer]) => words.some((word) => answer.includes(word)))

  verifies(['mail.attack.bcc', 'mail.bcc.hidden'], 'are shown by nothing that anybody else may call', async () => {
    const [ours, theirs] = [newProject(), newProject()]
    await people(ours, 'GreenCastle', 'BlueLake', 'RedStone', 'SilverFox', 'GoldenBear')
    await people(theirs, 'HiddenOtter', 'NosyCrow')
    await policy(theirs, 'HiddenOtter', 'open')
    const sent = await send(ours, 'GreenCastle', ['BlueLake'], {
      cc: ['RedStone'],
      bcc: ['SilverFox', `HiddenOtter@${theirs}`],
      body_md: `hello ${word}`,
      thread_id: thread,
      importance: 'urgent',
      ack_required: true,
    })
    expect(sent.count).toBe(4)

    // Both have it, neither sees the other, and only the sender sees both.
    for (const [project, agent, other] of [
      [ours, 'SilverFox', 'HiddenOtter'],
      [theirs, 'HiddenOtter', 'SilverFox'],
    ] as const) {
      const messages = await inbox(project, agent)
      expect(messages).toMatchObject([{ kind: 'bcc', body_md: `hello ${word}` }])
      expect(JSON.stringify(messages)).not.toContain(other)
    }
    const outbox = await door().read<Page>(`resource://outbox/GreenCastle?project=${ours}`)
    expect(outbox.messages[0]?.bcc).toMatchObject(['SilverFox', expect.stringMatching(/^HiddenOtter@/)])

    const here = await everything(ours, ['BlueLake', 'RedStone', 'GoldenBear'], sent)
    expect(showing(here, word).length, 'the reads do find the message').toBeGreaterThan(10)
    expect(showing(here, 'SilverFox', 'HiddenOtter')).toEqual([])
    expect(showing(here, 'bcc').map(([what]) => what)).toEqual(['tooling/schemas'])
    const there = await everything(theirs, ['NosyCrow'], sent)
    expect(showing(there, word, 'GreenCastle', 'BlueLake', 'SilverFox', 'HiddenOtter')).toEqual([])

    // A blind-copied agent that answers shows itself, not the message that it answers.
    const answer = { project_key: theirs, message_id: sent.message_id, sender_name: 'HiddenOtter' }
    const reply = await door().call<Receipt>('reply_message', { ...answer, body_md: 'I know.' })
    expect(reply.deliveries).toMatchObject([{ recipient: 'GreenCastle' }])
    const { messages } = await door().read<Page>(`resource://thread/${thread}?project=${theirs}`)
    expect(messages.map(({ id }) => id)).toEqual([reply.message_id])
    await expect(door().read(`resource://message/${sent.message_id}?project=${theirs}`)).rejects.toMatchObject({
      data: { code: 'MESSAGE_NOT_FOUND' },
    })
  })

  verifies('mail.attack.bcc', 'cannot be found out by whom a policy lets through', async () => {
    const project = newProject()
    await people(project, 'GreenCastle', 'BlueLake', 'SilverFox', 'GoldenBear')
    await send(project, 'GreenCastle', ['BlueLake'], { bcc: ['SilverFox'], thread_id: thread })
    // In the thread or not: to BlueLake, SilverFox must look like anybody else.
    const probe = async (name: string) =>
      (
        await shown(send(project, 'BlueLake', [name], { thread_id: thread, auto_contact_if_blocked: false }))
      ).replaceAll(name, '<name>')
    expect(await probe('SilverFox')).toContain('CONTACT_REQUIRED')
    expect(await probe('SilverFox')).toBe(await probe('GoldenBear'))
  })
})

describe('An agent that blocks all', () => {
  verifies(['mail.attack.block-all'], 'is reached by nobody, by no flag, way or door', async () => {
    const [project, elsewhere] = [newProject(), newProject()]
    await people(project, 'GreenCastle', 'QuietOwl', 'BlueLake')
    await people(elsewhere, 'RedStone')
    const ask = { project_key: project, from_agent: 'GreenCastle', to_agent: 'QuietOwl' }
    // Once upon a time they talked: contact, a shared thread, overlapping files, and QuietOwl spoke last.
    await door().call('request_contact', ask)
    await door().call('respond_contact', { ...ask, accept: true })
    await send(project, 'GreenCastle', ['QuietOwl'], { thread_id: 'TKT-1' })
    const spoken = await send(project, 'QuietOwl', ['GreenCastle', 'BlueLake'], { thread_id: 'TKT-1' })
    const blunt = await mailbox(parley(), 'QuietOwl', { query: `?project=${project}` }).send('GreenCastle', 'hm', 'm-1')
    for (const agent_name of ['GreenCastle', 'QuietOwl'])
      await door().call('file_reservation_paths', { project_key: project, agent_name, paths: ['src/**'] })
    await policy(project, 'QuietOwl', 'block_all')
    const had = async () => ({
      inbox: await inbox(project, 'QuietOwl'),
      contacts: await door().call('list_contacts', { project_key: project, agent_name: 'QuietOwl' }),
    })
    const before = await had()
    const stored = countRows(parley().storage)

    const call = (tool: string, args: Json) => door().call(tool, { project_key: project, ...args })
    const handshake = { project_key: project, requester: 'GreenCastle', target: 'QuietOwl', auto_accept: true }
    const attacks: Record<string, () => Promise<unknown>> = {
      'a plain send': () => send(project, 'GreenCastle', ['QuietOwl']),
      ack_required: () => send(project, 'GreenCastle', ['QuietOwl'], { ack_required: true, importance: 'urgent' }),
      'a handshake on block': () => send(project, 'GreenCastle', ['QuietOwl'], { auto_contact_if_blocked: true }),
      'another spelling': () => send(project, 'GreenCastle', ['quietowl']),
      'the shared thread': () => send(project, 'GreenCastle', ['QuietOwl'], { thread_id: 'TKT-1' }),
      'a reply': () =>
        call('reply_message', { message_id: spoken.message_id, sender_name: 'GreenCastle', body_md: 'x' }),
      'a reply by name': () =>
        call('reply_message', {
          message_id: spoken.message_id,
          sender_name: 'BlueLake',
          body_md: 'x',
          to: ['QuietOwl'],
        }),
      'another project': () => send(elsewhere, 'RedStone', [`QuietOwl@${project}`]),
      'a contact request': () => call('request_contact', { ...ask, from_agent: 'BlueLake' }),
      'an old contact, asked again': () => call('request_contact', ask),
      'a handshake for both': () =>
        door().call('macro_contact_handshake', { ...handshake, welcome_subject: 'Hi', welcome_body: 'x' }),
      'the mailbox door': () =>
        mailbox(parley(), 'GreenCastle', { query: `?project=${project}` }).send('QuietOwl', 'x'),
      'an answer at the mailbox door': () =>
        mailbox(parley(), 'GreenCastle', { query: `?project=${project}` }).send('QuietOwl', 'x', blunt),
    }
    for (const [name, attack] of Object.entries(attacks))
      await expect(attack(), name).rejects.toMatchObject({ code: 'CONTACT_BLOCKED', hint: expect.any(String) })
    expect(countRows(parley().storage), 'nothing is written').toEqual(stored)
    // Beside others who are reached: cc and bcc are no way in either.
    for (const copy of ['cc', 'bcc']) {
      const { count, blocked } = await send(project, 'GreenCastle', ['BlueLake'], { [copy]: ['QuietOwl'] })
      expect([count, blocked]).toMatchObject([1, [{ recipient: 'QuietOwl', code: 'CONTACT_BLOCKED' }]])
    }
    expect(await had()).toEqual(before)
  })

  verifies('mail.attack.block-all', 'An expired contact opens no door', async () => {
    const project = newProject()
    await people(project, 'GreenCastle', 'QuietOwl')
    await policy(project, 'QuietOwl', 'contacts_only')
    const ask = { project_key: project, from_agent: 'GreenCastle', to_agent: 'QuietOwl' }
    await door().call('request_contact', ask)
    await door().call('respond_contact', { ...ask, accept: true, ttl_seconds: 1 })
    const status = async () => {
      const [link] = await door().call<{ status: string }[]>('list_contacts', {
        project_key: project,
        agent_name: 'QuietOwl',
      })
      return link?.status
    }
    await expect.poll(status, { timeout: 5_000 }).toBe('expired')
    await expect(send(project, 'GreenCastle', ['QuietOwl'])).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
    expect((await inbox(project, 'QuietOwl')).filter(({ subject }) => subject === 'Plan')).toEqual([])
  })
})

describe('A stranger', () => {
  const strict = shareServer({ env: { MESSAGING_AUTO_HANDSHAKE_ON_BLOCK: 'false' } })

  /** GreenCastle and BlueLake talk in a thread; RedStone is nobody to either. */
  async function scene(policy: string) {
    const { call } = plainMail(strict())
    const project_key = newProject()
    for (const name of ['GreenCastle', 'BlueLake', 'RedStone']) await call('register_agent', { project_key, name })
    const as = (sender_name: string, to: string[], more: Json = {}) =>
      call<Receipt>('send_message', { project_key, sender_name, to, subject: 'x', body_md: 'x', ...more })
    await as('GreenCastle', ['BlueLake'], { thread_id: 'TKT-1', auto_contact_if_blocked: true })
    const { message_id } = await as('BlueLake', ['GreenCastle'], { thread_id: 'TKT-1' })
    await call('set_contact_policy', { project_key, agent_name: 'BlueLake', policy })
    const messages = () => call<Message[]>('fetch_inbox', { project_key, agent_name: 'BlueLake', limit: 100 })
    return { call, project_key, message_id, as, messages }
  }

  for (const policy of ['auto', 'contacts_only'])
    verifies('mail.attack.cold', `gets no word in by its own doing where the policy is ${policy}`, async () => {
      const { call, project_key, message_id, as, messages } = await scene(policy)
      // Whatever a stranger can do alone to look like somebody who is known.
      await as('RedStone', ['RedStone'], { thread_id: 'TKT-1' })
      await as('RedStone', ['RedStone'], { thread_id: 'TKT-2' })
      await as('RedStone', ['NewComer'], { thread_id: 'TKT-1', auto_contact_if_blocked: true })
      const before = await messages()
      const reply = { project_key, message_id, sender_name: 'RedStone', body_md: 'x' }
      const box = mailbox(strict(), 'RedStone', { query: `?project=${project_key}` })
      const attacks: Record<string, () => Promise<unknown>> = {
        'a cold message': () => as('RedStone', ['BlueLake']),
        'one that wants an answer': () => as('RedStone', ['BlueLake'], { ack_required: true, importance: 'urgent' }),
        'into the thread of others': () => as('RedStone', ['BlueLake'], { thread_id: 'TKT-1' }),
        'into a thread of its own': () => as('RedStone', ['BlueLake'], { thread_id: 'TKT-2' }),
        'a reply to what it was not sent': () => call('reply_message', reply),
        'a reply by name': () => call('reply_message', { ...reply, to: ['BlueLake'] }),
        'the mailbox door': () => box.send('BlueLake', 'x'),
        again: () => as('RedStone', ['BlueLake']),
      }
      for (const [name, attack] of Object.entries(attacks))
        await expect(attack(), name).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
      const { blocked } = await as('RedStone', ['RedStone'], { cc: ['BlueLake'], thread_id: 'TKT-1' })
      expect(blocked).toMatchObject([{ recipient: 'BlueLake', code: 'CONTACT_REQUIRED' }])
      expect(await messages()).toEqual(before)
    })

  verifies(
    ['mail.macro.answers', 'mail.contact.border', 'mail.attack.cold'],
    'does not answer its own request in the name of an agent that wants to be asked',
    async () => {
      const [ours, theirs] = [newProject(), newProject()]
      await people(ours, 'RedStone', 'QuietOwl', 'NoisyCrow')
      await people(theirs, 'BlueLake')
      await policy(ours, 'QuietOwl', 'contacts_only')
      const victims = [
        { project: ours, name: 'QuietOwl', address: 'QuietOwl' },
        { project: theirs, name: 'BlueLake', address: `BlueLake@${theirs}` },
      ]
      for (const { project, name, address } of victims) {
        const handshake = { project_key: ours, requester: 'RedStone', target: name, to_project: project }
        const welcome = { welcome_subject: 'Hi', welcome_body: 'x' }
        const attack = { ...handshake, ...welcome, auto_accept: true }
        for (const _ of [1, 2])
          expect(await door().call('macro_contact_handshake', attack), name).toMatchObject({
            request: { status: 'pending' },
            response: null,
            welcome_message: null,
          })
        for (const auto_contact_if_blocked of [true, false])
          await expect(send(ours, 'RedStone', [address], { auto_contact_if_blocked }), name).rejects.toMatchObject({
            code: 'CONTACT_REQUIRED',
          })
        // A message beside others takes no other way in, nor does a copy.
        for (const copy of ['cc', 'bcc']) {
          const { blocked } = await send(ours, 'RedStone', ['NoisyCrow'], { [copy]: [address] })
          expect(blocked, name).toMatchObject([{ code: 'CONTACT_REQUIRED' }])
        }
        const subjects = (await inbox(project, name)).map(({ subject }) => subject)
        expect(subjects, name).toEqual(['Contact request from RedStone'])
      }
    },
  )

  verifies('mail.attack.cold', 'that was declined stays so, whatever it asks for', async () => {
    const { call, project_key, as, messages } = await scene('auto')
    const ask = { project_key, from_agent: 'RedStone', to_agent: 'BlueLake' }
    await call('request_contact', ask)
    await call('respond_contact', { ...ask, accept: false })
    const before = await messages()
    await call('file_reservation_paths', { project_key, agent_name: 'BlueLake', paths: ['src/**'] })
    await call('file_reservation_paths', { project_key, agent_name: 'RedStone', paths: ['**'] })
    const attacks: Record<string, () => Promise<unknown>> = {
      'a message': () => as('RedStone', ['BlueLake']),
      'a handshake': () => as('RedStone', ['BlueLake'], { auto_contact_if_blocked: true }),
      'the same files': () => as('RedStone', ['BlueLake'], { thread_id: 'TKT-1' }),
      'another request': () => call('request_contact', { ...ask, ttl_seconds: 5 }),
      'a macro': () =>
        call('macro_contact_handshake', { project_key, requester: 'RedStone', target: 'BlueLake', auto_accept: true }),
    }
    for (const [name, attack] of Object.entries(attacks))
      await expect(attack(), name).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
    expect(await messages()).toEqual(before)
  })
})
