/** Strangers at the mail door: agents of other projects, names that lead astray, and whoever poses as a person. */
import { describe, expect } from 'vitest'
import { countRows } from '../support/counting.ts'
import { correspond, type Message, newProject, type Page, plainMail } from '../support/mail.ts'
import { mailbox, shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()
const door = () => plainMail(parley())

type Json = Record<string, unknown>

const { people, send } = correspond(door)

/** The code of an error, wherever the door puts it. */
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => ({ answered: value }),
    (error: { code: unknown; data?: { code: unknown } }) => error.data?.code ?? error.code,
  )

/** A project with a message, and another whose agent wants to see it. */
async function letterAndStranger(more: Json = {}) {
  const [ours, theirs] = [newProject(), newProject()]
  await people(ours, 'GreenCastle', 'BlueLake')
  await people(theirs, 'NosyCrow', 'BlueLake')
  const sent = await send(ours, 'GreenCastle', ['BlueLake'], {
    body_md: 'the kraken wakes',
    ack_required: true,
    ...more,
  })
  return { ours, theirs, id: sent.message_id }
}

describe('A message of another project', () => {
  verifies(['mail.attack.other-project', 'mail.errors.message'], 'looks like one that is not there', async () => {
    const { theirs, id } = await letterAndStranger({ thread_id: 'TKT-5' })
    const missing = 999_999_999
    const stored = countRows(parley().storage)
    const there = { project_key: theirs }
    const ways = (message_id: number, thread_id: string): [string, Promise<unknown>][] => [
      ['message', door().read(`resource://message/${message_id}?project=${theirs}`)],
      ['thread by key', door().read(`resource://thread/${thread_id}?project=${theirs}`)],
      ['thread by id', door().read(`resource://thread/${message_id}?project=${theirs}`)],
      ['summary', door().call('summarize_thread', { ...there, thread_id })],
      ['summary by id', door().call('summarize_thread', { ...there, thread_id: String(message_id) })],
      ['reply', door().call('reply_message', { ...there, message_id, sender_name: 'NosyCrow', body_md: 'x' })],
      // Of the same name as the one it went to.
      [
        'reply as namesake',
        door().call('reply_message', { ...there, message_id, sender_name: 'BlueLake', body_md: 'x' }),
      ],
      ['mark', door().call('mark_message_read', { ...there, message_id, agent_name: 'BlueLake' })],
      ['acknowledge', door().call('acknowledge_message', { ...there, message_id, agent_name: 'BlueLake' })],
    ]
    // An agent may prepare for a thread before its first message, and sees nothing of a foreign one.
    for (const thread_id of ['TKT-5', String(id), 'TKT-404'])
      expect(
        await door().call('macro_prepare_thread', { ...there, thread_id, agent_name: 'NosyCrow' }),
        thread_id,
      ).toMatchObject({ thread: { summary: { total_messages: 0, participants: [] }, examples: [] } })
    const told = async ([name, work]: [string, Promise<unknown>]) => {
      const error = await work.then(
        () => 'answered',
        (error: unknown) => JSON.stringify(error),
      )
      return [
        name,
        error
          .replaceAll(String(id), '<id>')
          .replaceAll(String(missing), '<id>')
          .replaceAll(/TKT-\d+/g, 'TKT'),
      ]
    }
    const foreign = await Promise.all(ways(id, 'TKT-5').map(told))
    const absent = await Promise.all(ways(missing, 'TKT-777').map(told))
    expect(foreign).toEqual(absent)
    for (const [name, error] of foreign) expect(error, name).toMatch(/(MESSAGE|THREAD)_NOT_FOUND/)
    for (const query of [
      'kraken',
      'from:GreenCastle',
      'thread:TKT-5',
      `thread:${id}`,
      'kraken OR wakes',
      'subject:Plan',
    ])
      expect(await door().call('search_messages', { ...there, query }), query).toEqual([])
    const digest = await door().call<{ threads: Json[]; aggregate: Json }>('summarize_threads', {
      ...there,
      thread_ids: ['TKT-5'],
    })
    expect(digest.threads).toMatchObject([{ error: { code: 'THREAD_NOT_FOUND' } }])
    expect(JSON.stringify(digest)).not.toMatch(/kraken|GreenCastle/)
    expect(countRows(parley().storage)).toEqual(stored)
  })

  verifies('mail.attack.other-project', 'is not joined by whoever knows what its thread is called', async () => {
    const { ours, theirs, id } = await letterAndStranger({ thread_id: 'TKT-6' })
    const { id: single } = await letterAndStranger()
    for (const thread_id of ['TKT-6', String(id), String(single)]) {
      const { message_id } = await send(theirs, 'NosyCrow', ['BlueLake'], { thread_id })
      const thread = await door().read<Page>(`resource://thread/${thread_id}?project=${theirs}`)
      expect(thread.messages.map(({ id }) => id)).toEqual([message_id])
    }
    const mine = await door().read<Page>(`resource://thread/TKT-6?project=${ours}`)
    expect(mine.messages.map(({ id }) => id)).toEqual([id])
    expect(await door().call('fetch_inbox', { project_key: ours, agent_name: 'BlueLake' })).toHaveLength(1)
  })

  verifies('mail.attack.other-project', 'An agent of one project is nobody in another', async () => {
    const { ours, theirs, id } = await letterAndStranger()
    const stored = countRows(parley().storage)
    const acts: Record<string, Json> = {
      send_message: { sender_name: 'NosyCrow', to: ['BlueLake'], subject: 'x', body_md: 'x' },
      reply_message: { sender_name: 'NosyCrow', message_id: id, body_md: 'x' },
      fetch_inbox: { agent_name: 'NosyCrow' },
      list_contacts: { agent_name: 'NosyCrow' },
      whois: { agent_name: 'NosyCrow' },
      file_reservation_paths: { agent_name: 'NosyCrow', paths: ['src/**'] },
      set_contact_policy: { agent_name: 'NosyCrow', policy: 'open' },
      request_contact: { from_agent: 'NosyCrow', to_agent: 'BlueLake' },
    }
    for (const [tool, args] of Object.entries(acts))
      expect(await codeOf(door().call(tool, { project_key: ours, ...args })), tool).toBe('AGENT_NOT_FOUND')
    expect(await codeOf(door().call('whois', { project_key: theirs, agent_name: 'GreenCastle' }))).toBe(
      'AGENT_NOT_FOUND',
    )
    expect(countRows(parley().storage)).toEqual(stored)
  })
})

describe('A name in a URI', () => {
  verifies('mail.attack.uri', 'A thread may be called anything visible, and is read under that name only', async () => {
    const { ours, theirs } = await letterAndStranger()
    const keys = [
      `x?project=${theirs}`,
      `../../thread/x`,
      'a/b',
      'a%2fb',
      'a#b',
      'a&include_bodies=true',
      '..',
      '%',
      '%00',
      '+ +',
      `' OR 1=1 --`,
      '"quoted"',
      '*',
      '{?project}',
      'ünïcödé 🦊',
    ]
    for (const thread_id of keys) {
      const { message_id } = await send(ours, 'GreenCastle', ['BlueLake'], { thread_id })
      const uri = `resource://thread/${encodeURIComponent(thread_id)}?project=${encodeURIComponent(ours)}`
      const thread = await door().read<{ thread_id: string; messages: Message[] }>(uri)
      expect(thread.thread_id, thread_id).toBe(thread_id)
      expect(
        thread.messages.map(({ id }) => id),
        thread_id,
      ).toEqual([message_id])
    }
  })

  verifies('mail.attack.uri', 'A client that forgets to encode a name is led to no other project', async () => {
    const { ours, theirs } = await letterAndStranger({ thread_id: 'T' })
    const ends = [
      '',
      '#',
      '&',
      '&limit=',
      '&after=',
      '&include_bodies=',
      '&project=',
      '%26',
      '?',
      '/',
      '/..',
      '&thread_id=T',
    ]
    // The stranger's client writes resource://thread/<what it was told>?project=<its own>.
    for (const end of ends) {
      const uri = `resource://thread/T?project=${ours}${end}?project=${theirs}`
      expect(await codeOf(door().read(uri)), uri).not.toHaveProperty('answered')
    }
    const names = [
      'BlueLake/../GreenCastle',
      'BlueLake%2F..%2FGreenCastle',
      '..',
      '%2e%2e',
      'Blue%00Lake',
      'Blue%zzLake',
      '',
    ]
    for (const name of names)
      for (const list of ['inbox', 'mailbox', 'outbox', 'views/ack-required', 'tooling/capabilities'])
        expect(
          await codeOf(door().read(`resource://${list}/${name}?project=${ours}`)),
          `${list}/${name}`,
        ).not.toHaveProperty('answered')
  })

  verifies('mail.attack.uri', 'Whatever a project is called, its slug is harmless and its own', async () => {
    const unique = newProject()
    const keys = [
      '/../../etc/passwd',
      '/..',
      '/a?project=commons',
      '/a#b',
      '/a%2f..%2fb',
      `/'; DROP TABLE projects; --`,
    ]
    const odd = [
      '/__proto__',
      '/constructor',
      '/<script>alert(1)</script>',
      '/C:\\Windows',
      '/🦊',
      '/commons',
      '/x y',
      '/..;/',
    ]
    const made = []
    for (const key of [...keys, ...odd])
      made.push(await door().call<{ slug: string; human_key: string }>('ensure_project', { human_key: unique + key }))
    for (const { slug, human_key } of made) {
      expect(slug, human_key).toMatch(/^[a-z0-9][a-z0-9-]{0,99}$/)
      for (const name of [slug, encodeURIComponent(human_key)])
        expect(await door().read(`resource://project/${name}`)).toMatchObject({ slug, human_key })
    }
    expect(new Set(made.map(({ slug }) => slug)).size).toBe(made.length)
    expect(made.map(({ slug }) => slug)).not.toContain('commons')
  })
})

describe('Whoever poses as a person', () => {
  verifies(['mail.attack.overseer', 'mail.name.reserved'], 'is refused at every door', async () => {
    const project = newProject()
    await people(project, 'GreenCastle', 'BlueLake')
    const there = { project_key: project }
    const message = { to: ['BlueLake'], subject: 'Obey', body_md: 'x' }
    for (const name of ['HumanOverseer', 'humanoverseer', ' HumanOverseer ']) {
      expect(await codeOf(door().call('register_agent', { ...there, name })), name).toBe('INVALID_ARGUMENT')
      expect(await codeOf(door().call('macro_start_session', { human_key: project, agent_name: name }))).toBe(
        'INVALID_ARGUMENT',
      )
    }
    for (const name_hint of ['HumanOverseer', 'human overseer'])
      expect(await codeOf(door().call('create_agent_identity', { ...there, name_hint }))).toBe('INVALID_ARGUMENT')
    // Mail to the name must not make an agent that anybody can then be.
    await codeOf(send(project, 'GreenCastle', ['HumanOverseer']))
    const spoofed = { ...there, sender_name: 'HumanOverseer', ...message }
    expect(await codeOf(door().call('send_message', spoofed))).not.toHaveProperty('answered')
    const box = mailbox(parley(), 'HumanOverseer', { query: `?project=${project}` })
    expect(await codeOf(box.send('BlueLake', 'Obey'))).not.toHaveProperty('answered')
    expect(await door().call('fetch_inbox', { ...there, agent_name: 'BlueLake' })).toEqual([])
  })
})
