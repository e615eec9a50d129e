/** The rules that agents are given to copy, done as they say: the AGENTS.md blurb and the Beads flow. */
import { expect } from 'vitest'
import { type MailDoor, type Message, type Page, plainMail, type Receipt } from '../support/mail.ts'
import { shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

interface Reserved {
  granted: { id: number; path_pattern: string; exclusive: boolean; reason: string }[]
  conflicts: { path: string; holders: { agent: string; path_pattern: string }[] }[]
}

interface Thread {
  thread_id: string
  messages: Message[]
}

/** The calls of one agent. */
function deskOf({ call }: MailDoor, project_key: string, name: string) {
  return {
    send: (to: string, subject: string, more: Record<string, unknown> = {}) =>
      call<Receipt>('send_message', { project_key, sender_name: name, to: [to], subject, body_md: subject, ...more }),
    reply: (message_id: number, body_md: string, more: Record<string, unknown> = {}) =>
      call<Receipt>('reply_message', { project_key, sender_name: name, message_id, body_md, ...more }),
    inbox: (more: Record<string, unknown> = {}) =>
      call<Message[]>('fetch_inbox', { project_key, agent_name: name, ...more }),
    acknowledge: (message_id: number) => call('acknowledge_message', { project_key, agent_name: name, message_id }),
    reserve: (paths: string[], more: Record<string, unknown> = {}) =>
      call<Reserved>('file_reservation_paths', { project_key, agent_name: name, paths, ...more }),
    release: (paths: string[]) =>
      call<{ released: number }>('release_file_reservations', { project_key, agent_name: name, paths }),
  }
}

async function enter(door: MailDoor, project_key: string, name: string) {
  await door.call('ensure_project', { human_key: project_key })
  await door.call('register_agent', { project_key, program: 'codex-cli', model: 'gpt5-codex', name })
  return deskOf(door, project_key, name)
}

verifies('mail.story.beads', 'A task goes from start to completion under the id bd-123', async () => {
  const door = plainMail(parley())
  const project = '/abs/path/beads'
  const green = await enter(door, project, 'GreenCastle')
  const blue = await enter(door, project, 'BlueLake')

  // 2) Reserve edit surface
  const { granted, conflicts } = await green.reserve(['src/**'], {
    ttl_seconds: 3600,
    exclusive: true,
    reason: 'bd-123',
  })
  expect(granted).toMatchObject([{ path_pattern: 'src/**', exclusive: true, reason: 'bd-123' }])
  expect(conflicts).toEqual([])
  // Another who starts on the same files is told by whom they are held.
  const late = await blue.reserve(['src/api/*.ts'], { reason: 'bd-124' })
  expect(late.granted).toHaveLength(1)
  expect(late.conflicts).toMatchObject([{ path: 'src/api/*.ts', holders: [{ agent: 'GreenCastle' }] }])
  expect(await blue.release(['src/api/*.ts'])).toMatchObject({ released: 1 })

  // 3) Announce start
  const start = await green.send('BlueLake', '[bd-123] Start: users API', { thread_id: 'bd-123', ack_required: true })
  expect(start).toMatchObject({ thread_id: 'bd-123', subject: '[bd-123] Start: users API' })
  expect(await door.read<Page>(`resource://views/ack-required/BlueLake?project=${project}`)).toMatchObject({
    count: 1,
    messages: [{ id: start.message_id, thread_id: 'bd-123', ack_required: true, ack_ts: null }],
  })

  // 4) Work and update
  expect(await blue.acknowledge(start.message_id)).toMatchObject({ acknowledged: true })
  expect(await door.read<Page>(`resource://views/ack-required/BlueLake?project=${project}`)).toMatchObject({ count: 0 })
  const answer = await blue.reply(start.message_id, 'Which routes?')
  expect(answer).toMatchObject({ thread_id: 'bd-123', subject: 'Re: [bd-123] Start: users API' })
  const progress = await green.reply(answer.message_id, 'TODO: /api/users first')

  // 5) Complete and release
  expect(await green.release(['src/**'])).toMatchObject({ released: 1 })
  expect((await blue.reserve(['src/api/*.ts'], { on_conflict: 'refuse' })).granted).toHaveLength(1)
  const done = await green.send('BlueLake', '[bd-123] Completed', { thread_id: 'bd-123' })

  const { messages } = await door.read<Thread>(`resource://thread/bd-123?project=${project}&include_bodies=true`)
  expect(messages.map(({ id }) => id)).toEqual([start, answer, progress, done].map(({ message_id }) => message_id))
  expect(messages.map(({ thread_id }) => thread_id)).toEqual(['bd-123', 'bd-123', 'bd-123', 'bd-123'])
  expect(messages[2]?.body_md).toBe('TODO: /api/users first')
  const found = await door.call<{ id: number }[]>('search_messages', { project_key: project, query: 'thread:bd-123' })
  expect(found.map(({ id }) => id).sort()).toEqual(messages.map(({ id }) => id).sort())
  const past = await door.read<{ path_pattern: string; reason: string; released_ts: string | null }[]>(
    `resource://file_reservations/${encodeURIComponent(project)}?active_only=false`,
  )
  expect(past).toContainEqual(
    expect.objectContaining({ path_pattern: 'src/**', reason: 'bd-123', released_ts: expect.any(String) }),
  )
})

verifies('mail.story.beads', 'A blocked task is said with high importance, and an overdue answer shows', async () => {
  const door = plainMail(parley())
  const project = '/abs/path/beads-blocked'
  const green = await enter(door, project, 'GreenCastle')
  const blue = await enter(door, project, 'BlueLake')
  const blocked = await green.send('BlueLake', '[bd-7] Blocked: no schema', {
    thread_id: 'bd-7',
    importance: 'high',
    ack_required: true,
  })
  await green.send('BlueLake', '[bd-7] By the way', { thread_id: 'bd-7' })
  expect(await blue.inbox({ urgent_only: true })).toMatchObject([{ id: blocked.message_id, importance: 'high' }])
  const overdue = await door.read<Page>(`resource://views/ack-overdue/BlueLake?project=${project}&ttl_minutes=0`)
  expect(overdue).toMatchObject({ ttl_minutes: 0, count: 1, messages: [{ id: blocked.message_id }] })
})

verifies('mail.story.blurb', 'One project for two repositories: patterns kept apart do not conflict', async () => {
  const door = plainMail(parley())
  const project = '/abs/path/product'
  const green = await enter(door, project, 'GreenCastle')
  const blue = await enter(door, project, 'BlueLake')
  expect((await green.reserve(['backend/**'])).conflicts).toEqual([])
  expect((await blue.reserve(['frontend/**'])).conflicts).toEqual([])
  const sent = await green.send('BlueLake', 'Contract', { thread_id: 'FEAT-123' })
  expect(await blue.inbox()).toMatchObject([{ id: sent.message_id, thread_id: 'FEAT-123' }])
  expect(await blue.acknowledge(sent.message_id)).toMatchObject({ acknowledged: true })
})

verifies('mail.story.blurb', 'Two projects: contact is asked for and given, then one thread holds both', async () => {
  const door = plainMail(parley())
  const [ours, theirs] = ['/abs/path/api', '/abs/path/web']
  const green = await enter(door, ours, 'GreenCastle')
  const blue = await enter(door, theirs, 'BlueLake')
  const there = { project_key: ours, from_agent: 'GreenCastle', to_agent: 'BlueLake' }
  // Isolation: without a word about the other project BlueLake is nobody here.
  await expect(door.call('request_contact', there)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
  expect(
    await door.call('request_contact', { ...there, to_project: theirs, reason: 'API contract changes' }),
  ).toMatchObject({ status: 'pending' })
  expect(await blue.inbox({ include_bodies: true })).toMatchObject([
    { ack_required: true, body_md: expect.stringContaining('API contract changes') },
  ])
  const answer = { project_key: theirs, to_agent: 'BlueLake', from_agent: 'GreenCastle', from_project: ours }
  expect(await door.call('respond_contact', { ...answer, accept: true })).toMatchObject({ status: 'approved' })

  // The one approved contact of that name elsewhere.
  const sent = await green.send('BlueLake', 'Contract', { thread_id: 'FEAT-124' })
  expect(sent.deliveries).toMatchObject([{ recipient: 'BlueLake', project: expect.stringMatching(/^web-/) }])
  const reply = await blue.reply(sent.message_id, 'agreed')
  for (const project of [ours, theirs]) {
    const { messages } = await door.read<Thread>(`resource://thread/FEAT-124?project=${project}`)
    expect(messages.map(({ id }) => id)).toEqual([sent.message_id, reply.message_id])
  }
  expect(await green.inbox()).toMatchObject([{ id: reply.message_id, from: expect.stringMatching(/^BlueLake@web-/) }])
})

verifies('mail.story.blurb', 'The macros do the same in one call each', async () => {
  const door = plainMail(parley())
  const project = '/abs/path/macros'
  const day = await door.call<{ agent: { name: string }; file_reservations: Reserved; inbox: Message[] }>(
    'macro_start_session',
    {
      human_key: project,
      program: 'codex-cli',
      model: 'gpt5-codex',
      agent_name: 'GreenCastle',
      file_reservation_paths: ['src/**'],
      file_reservation_reason: 'bd-9',
    },
  )
  expect(day).toMatchObject({ agent: { name: 'GreenCastle' }, inbox: [] })
  expect(day.file_reservations.granted).toMatchObject([{ path_pattern: 'src/**', reason: 'bd-9' }])
  const blue = await enter(door, project, 'BlueLake')
  const sent = await blue.send('GreenCastle', '[bd-9] Start', { thread_id: 'bd-9' })
  const prepared = await door.call<{ thread: { thread_id?: string }; inbox: Message[] }>('macro_prepare_thread', {
    project_key: project,
    thread_id: 'bd-9',
    program: 'codex-cli',
    model: 'gpt5-codex',
    agent_name: 'GreenCastle',
  })
  expect(JSON.stringify(prepared.thread)).toContain('BlueLake')
  expect(prepared.inbox).toMatchObject([{ id: sent.message_id }])

  const cycle = (auto_release: boolean) =>
    door.call<{ file_reservations: Reserved; released: unknown }>('macro_file_reservation_cycle', {
      project_key: project,
      agent_name: 'GreenCastle',
      paths: ['docs/**'],
      auto_release,
    })
  expect((await cycle(false)).file_reservations.granted).toMatchObject([{ path_pattern: 'docs/**' }])
  // Reservations from before the cycle stay held.
  expect(await cycle(true)).toMatchObject({ released: { released: 0 } })

  const other = '/abs/path/macros-other'
  const red = await enter(door, other, 'RedStone')
  const handshake = {
    project_key: project,
    requester: 'GreenCastle',
    target: 'RedStone',
    to_project: other,
    auto_accept: true,
    welcome_subject: 'Hello',
    welcome_body: 'We share the API.',
  }
  // At the border of a project the other answers itself, unless it is open to all.
  expect(await door.call('macro_contact_handshake', handshake)).toMatchObject({
    request: { status: 'pending' },
    response: null,
    note: expect.stringContaining('RedStone'),
  })
  await door.call('set_contact_policy', { project_key: other, agent_name: 'RedStone', policy: 'open' })
  const made = await door.call('macro_contact_handshake', handshake)
  expect(made).toMatchObject({ request: expect.anything(), response: { status: 'approved' } })
  expect((await red.inbox()).map(({ subject }) => subject)).toContain('Hello')
})
