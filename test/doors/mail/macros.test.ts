/** The four macros of the mail door: each one call for several. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Desk, type Message, newDesk, newProject, type Receipt } from '../../support/mail.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

let desk: Desk
beforeEach(async () => {
  desk = await newDesk(parley())
})

interface Reservations {
  granted: { id: number; path_pattern: string }[]
  conflicts: { path: string; holders: { agent: string }[] }[]
}

interface Started {
  project: { slug: string; human_key: string }
  agent: { name: string; program: string; task_description: string }
  file_reservations: Reservations
  inbox: Message[]
  active_agents: { name: string; task_description: string; last_active_ts: string }[]
}

const active = (project: string) =>
  desk.door.read<{ agent: string }[]>(`resource://file_reservations/${encodeURIComponent(project)}?active_only=true`)

describe('macro_start_session', () => {
  verifies(
    ['mail.macro.start', 'mail.inbox.more'],
    'makes the project, registers, reserves and shows the inbox in one call',
    async () => {
      const human_key = newProject()
      const first = await desk.door.call<Started>('macro_start_session', {
        human_key,
        program: 'codex-cli',
        model: 'gpt5-codex',
        task_description: 'Auth refactor',
        file_reservation_paths: ['app/api/*.py'],
        file_reservation_reason: 'bd-1',
        file_reservation_ttl_seconds: 60,
      })
      expect(first).toMatchObject({
        project: { human_key },
        agent: {
          name: expect.stringMatching(/^[A-Z][a-z]+[A-Z][a-z]+$/),
          program: 'codex-cli',
          task_description: 'Auth refactor',
        },
        file_reservations: { granted: [{ path_pattern: 'app/api/*.py', reason: 'bd-1' }], conflicts: [] },
        inbox: [],
      })
      const { name } = first.agent
      for (const subject of ['one', 'two'])
        await desk.door.call('send_message', {
          project_key: human_key,
          sender_name: name,
          to: [name],
          subject,
          body_md: 'x',
        })
      const again = await desk.door.call<Started>('macro_start_session', {
        human_key,
        agent_name: name,
        inbox_limit: 1,
      })
      expect(again).toMatchObject({
        agent: { name, program: 'codex-cli' },
        inbox: [{ subject: 'two' }],
        inbox_has_more: true,
        next_before: expect.any(Number),
        note: expect.stringMatching(/fetch_inbox with before_id: \d+, limit: 1\.$/),
      })
      expect(again.inbox).toHaveLength(1)
    },
  )

  verifies('mail.macro.others', 'shows who else is active, ten at most', async () => {
    const human_key = newProject()
    const start = (agent_name: string, more = {}) =>
      desk.door.call<Started>('macro_start_session', { human_key, agent_name, ...more })
    expect((await start('GreenCastle', { task_description: 'Auth' })).active_agents).toEqual([])
    await desk.door.call('send_message', {
      project_key: human_key,
      sender_name: 'GreenCastle',
      to: ['WhiteOwl'],
      subject: 'x',
      body_md: 'x',
    })
    expect((await start('BlueLake')).active_agents).toEqual([
      { name: 'GreenCastle', task_description: 'Auth', last_active_ts: expect.stringMatching(/^20.*Z$/) },
    ])
    for (const name of ['Ant', 'Bat', 'Cat', 'Dog', 'Elk', 'Fox', 'Gnu', 'Hen', 'Jay']) await start(`Gray${name}`)
    const { active_agents } = await start('BlueLake')
    expect(active_agents.map(({ name }) => name)).toEqual(expect.arrayContaining(['GreenCastle', 'GrayJay']))
    await start('GrayKoi')
    expect((await start('BlueLake')).active_agents).toHaveLength(10)
  })

  verifies('mail.macro.start-checked', 'with a bad pattern registers nobody and makes no project', async () => {
    const human_key = newProject()
    await expect(
      desk.door.call('macro_start_session', { human_key, file_reservation_paths: ['src/{a'] }),
    ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    await expect(desk.door.call('list_agents', { project_key: human_key })).rejects.toMatchObject({
      code: 'PROJECT_NOT_FOUND',
    })
  })
})

describe('macro_prepare_thread', () => {
  const prepare = (more: Record<string, unknown>) =>
    desk.door.call<{ agent: { name: string }; thread: { summary: object; examples: unknown[] }; inbox: Message[] }>(
      'macro_prepare_thread',
      { project_key: desk.project, thread_id: 'T-1', ...more },
    )

  verifies('mail.macro.prepare', 'registers, summarizes the thread and shows the inbox', async () => {
    await desk.send({ thread_id: 'T-1', to: ['WhiteOwl'], body_md: 'TODO: write the migration' })
    const prepared = await prepare({ agent_name: 'WhiteOwl', include_inbox_bodies: true })
    expect(prepared).toMatchObject({
      agent: { name: 'WhiteOwl' },
      thread: { thread_id: 'T-1', summary: { total_messages: 1, participants: ['GreenCastle', 'WhiteOwl'] } },
      inbox: [{ body_md: 'TODO: write the migration' }],
    })
    expect(prepared.thread.examples).toHaveLength(1)
    expect((await prepare({ agent_name: 'WhiteOwl', include_examples: false })).thread.examples).toEqual([])
  })

  verifies('mail.inbox.budget', 'shows bodies of the inbox as far as they fit beside the summary', async () => {
    for (let n = 0; n < 8; n++) await desk.send({ thread_id: 'T-1', to: ['WhiteOwl'], body_md: `${n} `.repeat(4000) })
    const asked = { agent_name: 'WhiteOwl', include_inbox_bodies: true }
    const prepared = (await prepare(asked)) as Record<string, unknown> & { inbox: Message[]; next_before?: number }
    expect(JSON.stringify(prepared).length).toBeLessThanOrEqual(40_000)
    expect(prepared.inbox.length).toBeGreaterThan(1)
    expect(prepared.inbox.length).toBeLessThan(8)
    const last = prepared.inbox.at(-1)?.id
    expect(prepared).toMatchObject({
      inbox_has_more: true,
      next_before: last,
      note: expect.stringContaining(`fetch_inbox with before_id: ${last}, include_bodies: true`),
    })
    const narrow = (await prepare({ ...asked, max_chars: 1, inbox_limit: 5 })) as typeof prepared
    expect(narrow.inbox).toHaveLength(1)
    expect(narrow.note).toMatch(/, include_bodies: true, limit: 5, max_chars: 1\.$/)
  })

  verifies('mail.macro.prepare-missing', 'prepares for a thread that nobody has written to yet', async () => {
    const project_key = newProject()
    const prepared = await prepare({ project_key, agent_name: 'GreyWolf' })
    expect(prepared).toMatchObject({
      project: { human_key: project_key },
      agent: { name: 'GreyWolf' },
      thread: { thread_id: 'T-1', summary: { total_messages: 0, participants: [], key_points: [] }, examples: [] },
      inbox: [],
    })
    expect(prepared.thread.summary).not.toHaveProperty('last_activity_ts')
    const known = { project_key, agent_name: 'GreyWolf', register_if_missing: false }
    expect(await prepare(known)).toMatchObject({ thread: { summary: { total_messages: 0 } } })
  })

  verifies('mail.macro.prepare-missing', 'registers nobody where it is told not to', async () => {
    await desk.send({ thread_id: 'T-1' })
    await expect(prepare({ agent_name: 'GreyWolf', register_if_missing: false })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
    })
    await expect(prepare({ register_if_missing: false })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: 'Argument "agent_name" must name you if register_if_missing is false.',
    })
    const project_key = newProject()
    await expect(prepare({ project_key, agent_name: 'GreyWolf', register_if_missing: false })).rejects.toMatchObject({
      code: 'PROJECT_NOT_FOUND',
    })
    const agents = await desk.door.call<{ name: string }[]>('list_agents', { project_key: desk.project })
    expect(agents.map(({ name }) => name).sort()).toEqual(['BlueLake', 'GreenCastle', 'RedStone'])
  })
})

describe('macro_file_reservation_cycle', () => {
  verifies('mail.macro.cycle', 'reserves, and with auto_release lets go at once', async () => {
    const cycle = (agent_name: string, more = {}) =>
      desk.door.call<{ file_reservations: Reservations; released: { released: number } | null }>(
        'macro_file_reservation_cycle',
        { project_key: desk.project, agent_name, paths: ['src/**'], ...more },
      )
    const looked = await cycle('GreenCastle', { auto_release: true })
    expect(looked).toMatchObject({ file_reservations: { conflicts: [] }, released: { released: 1 } })
    expect(await cycle('BlueLake')).toMatchObject({ file_reservations: { conflicts: [] }, released: null })
    const second = await cycle('RedStone', { exclusive: false, ttl_seconds: 5, reason: 'a look' })
    expect(second.file_reservations.conflicts).toMatchObject([{ holders: [{ agent: 'BlueLake' }] }])
    expect((await active(desk.project)).map(({ agent }) => agent).sort()).toEqual(['BlueLake', 'RedStone'])
    // Reservations from before the cycle stay.
    expect(await cycle('BlueLake', { auto_release: true })).toMatchObject({
      file_reservations: { granted: [{ path_pattern: 'src/**' }] },
      released: { released: 0 },
    })
    expect((await active(desk.project)).map(({ agent }) => agent).sort()).toEqual(['BlueLake', 'RedStone'])
  })
})

describe('macro_contact_handshake', () => {
  interface Handshake {
    request: { status: string }
    response: { status: string } | null
    welcome_message: Receipt | null
    note?: string
  }

  const policy = (agent_name: string, policy: string) =>
    desk.door.call('set_contact_policy', { project_key: desk.project, agent_name, policy })

  verifies('mail.macro.handshake', 'asks, answers for the other if told to, and sends the welcome', async () => {
    const asked = await desk.door.call<Handshake>('macro_contact_handshake', {
      project_key: desk.project,
      requester: 'GreenCastle',
      target: 'BlueLake',
      welcome_subject: 'Hello',
      welcome_body: 'not yet',
    })
    expect(asked).toMatchObject({ request: { status: 'pending' }, response: null, welcome_message: null })
    const made = await desk.door.call<Handshake>('macro_contact_handshake', {
      project_key: desk.project,
      agent_name: 'GreenCastle',
      to_agent: 'BlueLake',
      auto_accept: true,
      welcome_subject: 'Hello',
      welcome_body: 'at last',
    })
    expect(made).toMatchObject({ response: { status: 'approved' }, welcome_message: { count: 1, subject: 'Hello' } })
    expect((await desk.inbox('BlueLake')).map(({ subject }) => subject)).toEqual([
      'Hello',
      expect.stringContaining('Contact'),
    ])
  })

  test('wants both parts of a welcome, or none', async () => {
    for (const [given, missing] of [
      ['welcome_subject', 'welcome_body'],
      ['welcome_body', 'welcome_subject'],
    ] as const)
      await expect(
        desk.door.call('macro_contact_handshake', {
          project_key: desk.project,
          requester: 'GreenCastle',
          target: 'BlueLake',
          [given]: 'Hello',
        }),
      ).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: `Argument "${missing}" must be given with ${given}: a welcome has both.`,
      })
    expect(await desk.inbox('BlueLake')).toEqual([])
  })

  verifies('mail.macro.answers', 'leaves the answer to the other where its policy wants to be asked', async () => {
    await policy('BlueLake', 'contacts_only')
    const asked = await desk.door.call<Handshake>('macro_contact_handshake', {
      project_key: desk.project,
      requester: 'GreenCastle',
      target: 'BlueLake',
      auto_accept: true,
      welcome_subject: 'Hello',
      welcome_body: 'at last',
    })
    expect(asked).toMatchObject({
      request: { status: 'pending' },
      response: null,
      welcome_message: null,
      note: 'BlueLake has to answer itself: by its contact policy nobody does so for it.',
    })
    expect((await desk.inbox('BlueLake')).map(({ subject }) => subject)).toEqual(['Contact request from GreenCastle'])
  })

  verifies('mail.macro.answers', 'works across projects where the other is open', async () => {
    const other = newProject()
    await desk.door.call('register_agent', { project_key: other, name: 'BlueLake' })
    await desk.door.call('set_contact_policy', { project_key: other, agent_name: 'BlueLake', policy: 'open' })
    const made = await desk.door.call<Handshake>('macro_contact_handshake', {
      project_key: desk.project,
      requester: 'GreenCastle',
      target: 'BlueLake',
      to_project: other,
      auto_accept: true,
    })
    expect(made).toMatchObject({
      request: { status: 'pending' },
      response: { status: 'approved' },
      welcome_message: null,
    })
  })

  test('does not pass block_all', async () => {
    await policy('BlueLake', 'block_all')
    await expect(
      desk.door.call('macro_contact_handshake', {
        project_key: desk.project,
        requester: 'GreenCastle',
        target: 'BlueLake',
        auto_accept: true,
      }),
    ).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
    expect(await desk.inbox('BlueLake')).toEqual([])
  })
})
