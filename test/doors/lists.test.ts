/** Lists in answers and arguments, in every tool and resource: the tables are walked, so that a new row cannot forget it. */
import { beforeAll, describe, expect } from 'vitest'
import { readArguments } from '../../src/doors/mcp/args.ts'
import { listsOf } from '../../src/doors/mcp/lenient.ts'
import { inputSchema, outputSchema } from '../../src/doors/mcp/schema.ts'
import { httpPeer } from '../support/bus.ts'
import { type Desk, newDesk } from '../support/mail.ts'
import { connectClient, shareServer } from '../support/parley.ts'
import { busSamples, hubSamples, mailboxSamples, mailSamples } from '../support/samples.ts'
import { allRows, type Json, propertiesOf } from '../support/tables.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()
const samples = { ...mailSamples('/srv/app'), ...busSamples, ...mailboxSamples, ...hubSamples }

describe('A list in an answer', () => {
  /** All that there is, however long: of these there is never more. */
  const whole = new Set([
    ...['send_message.deliveries', 'send_message.blocked', 'reply_message.deliveries', 'reply_message.blocked'],
    // Of its holders there may be more, and more_holders says so.
    ...[
      'file_reservation_paths.granted',
      'file_reservation_paths.conflicts',
      'renew_file_reservations.file_reservations',
    ],
    ...['send_message.attachments', 'reply_message.attachments'],
    ...['summarize_thread.examples', 'summarize_threads.threads'],
    // One reply of each agent that was named.
    ...['replies', 'missing', 'blocked'].map((list) => `apm2.message.broadcast.${list}`),
    ...['topic_close.warnings', 'topic_reopen.warnings'],
    // Ten of them at most; list_agents shows all.
    'macro_start_session.active_agents',
    'apm2.message.send.deliveries',
    // Some that the sender has not seen; the thread shows all.
    ...['send_message', 'reply_message', 'apm2.message.send'].map((tool) => `${tool}.unread_in_thread`),
  ])

  /** Its place is kept by the server: the same call goes on. */
  const asksAgain = new Set(['sync'])

  verifies(['all.lists.more', 'all.lists.onwards'], 'of a tool says whether there is more, and how to go on', () => {
    let found = 0
    for (const row of allRows) {
      const properties = propertiesOf(outputSchema(row))
      for (const [field, { type }] of Object.entries(properties)) {
        if (type !== 'array' || whole.has(`${row.name}.${field}`)) continue
        found++
        const said = properties.has_more ?? properties[`${field}_has_more`]
        expect.soft(said, `${row.name}.${field}`).toMatchObject({ type: 'boolean' })
        // The way on is a place to begin from, a sentence, or to ask again.
        const onwards = Object.keys(properties).some((name) => name === 'note' || name.startsWith('next_'))
        expect.soft(onwards || asksAgain.has(row.name), `${row.name} has a way to go on`).toBe(true)
      }
    }
    expect(found).toBeGreaterThan(6)
  })

  let desk: Desk
  let id = 0
  beforeAll(async () => {
    desk = await newDesk(parley())
    const pressing = { thread_id: 'T-1', importance: 'high', ack_required: true }
    for (let n = 0; n < 2; n++) {
      id = (await desk.send(pressing)).message_id
      await desk.send({ ...pressing, sender_name: 'BlueLake', to: ['GreenCastle'] })
    }
    await desk.door.call('file_reservation_paths', {
      project_key: desk.project,
      agent_name: 'GreenCastle',
      paths: ['a', 'b', 'c'],
    })
  })

  const values = (): Readonly<Record<string, string>> => ({
    agent: 'GreenCastle',
    slug: desk.project,
    project: desk.project,
    id: String(id),
    thread_id: 'T-1',
    window_seconds: '60',
    limit: '1',
    ttl_seconds: '0',
    ttl_minutes: '0',
  })

  /** Of these resources lists are the subject, and they are told whole. */
  const complete = [
    'tooling/directory',
    'tooling/schemas',
    'tooling/metrics',
    'tooling/locks',
    'tooling/capabilities',
    'message/',
    'attachment/',
  ]

  async function read(uri: string): Promise<{ value: unknown; meta: Json | undefined }> {
    const client = await connectClient(`${parley().url}/mcp`, '2025-11-25')
    const [content] = (await client.readResource({ uri })).contents as { text: string; _meta?: Json }[]
    return { value: JSON.parse(content?.text ?? 'null'), meta: content?._meta }
  }

  verifies('all.lists.more', 'of a resource says whether there is more', async () => {
    const client = await connectClient(`${parley().url}/mcp`, '2025-11-25')
    const uris = [
      ...(await client.listResources()).resources.map(({ uri }) => uri),
      ...(await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ]
    let found = 0
    for (const uri of uris) {
      if (complete.some((path) => uri.startsWith(`resource://${path}`))) continue
      const [, base = '', query = ''] = /^([^{]*(?:\{\w+\}[^{]*)*)(?:\{\?(.*)\})?$/.exec(uri) ?? []
      const path = base.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values()[name] ?? ''))
      const names = query.split(',').filter((name) => /^(project|limit|ttl_\w+)$/.test(name))
      const asked = `${path}?${names.map((name) => `${name}=${encodeURIComponent(values()[name] ?? '')}`).join('&')}`
      const { value, meta } = await read(names.length > 0 ? asked : path)
      const lists = Array.isArray(value) || Object.values(value as Json).some(Array.isArray)
      if (!lists) continue
      found++
      const said = Array.isArray(value) ? meta : (value as Json)
      expect.soft(said?.has_more, asked).toBe(names.includes('limit'))
      // The most pressing come first; the note says how the rest is told of.
      if (names.includes('limit') && !names.some((name) => name.startsWith('ttl_')))
        expect
          .soft(
            Object.keys(said ?? {}).filter((key) => key.startsWith('next_')),
            asked,
          )
          .toHaveLength(1)
      else if (names.includes('limit')) expect.soft(said?.note, asked).toMatch(/higher limit/)
    }
    expect(found).toBeGreaterThan(4)
  })

  verifies('all.lists.more', 'is told to its end by going on from there', async () => {
    const uri = `resource://file_reservations/${encodeURIComponent(desk.project)}?limit=2`
    const { value, meta } = await read(uri)
    expect([value, meta]).toMatchObject([[{ path_pattern: 'c' }, { path_pattern: 'b' }], { has_more: true }])
    const rest = await read(`${uri}&before=${meta?.next_before}`)
    expect([rest.value, rest.meta]).toMatchObject([[{ path_pattern: 'a' }], { has_more: false }])
    const { project } = desk
    const listed = (limit: number) => desk.door.callWhole('list_agents', { project_key: project, limit })
    expect(await listed(2)).toMatchObject({ result: { length: 2 }, has_more: true, note: expect.any(String) })
    expect(await listed(3)).toEqual({ result: expect.objectContaining({ length: 3 }), has_more: false })
    const contacts = { project_key: project, agent_name: 'BlueLake' }
    expect(await desk.door.callWhole('list_contacts', contacts)).toMatchObject({ has_more: false })
  })

  verifies('mail.lists.onwards', 'contacts come in pages, and so do leases of an agent that holds many', async () => {
    const { door, project: project_key } = await newDesk(parley())
    const as = { project_key, agent_name: 'GreenCastle' }
    for (const to_agent of ['BlueLake', 'RedStone'])
      await door.call('request_contact', { project_key, from_agent: 'GreenCastle', to_agent })
    const page = (before?: unknown) =>
      door.callWhole<{ result: { to: string }[]; has_more: boolean; next_before?: number }>('list_contacts', {
        ...as,
        limit: 1,
        before_id: before,
      })
    const first = await page()
    expect(first).toMatchObject({ result: [{ to: 'RedStone' }], has_more: true, next_before: expect.any(Number) })
    const last = await page(first.next_before)
    expect(last).toMatchObject({ result: [{ to: 'BlueLake' }], has_more: false })
    expect(last).not.toHaveProperty('next_before')

    const paths = Array.from({ length: 60 }, (_, n) => `src/${n}.ts`)
    await door.call('file_reservation_paths', { ...as, paths })
    await door.call('file_reservation_paths', { ...as, paths: paths.map((path) => `lib/${path}`) })
    const held = await door.call<{ has_more: boolean; note: string }>('release_file_reservations', {
      ...as,
      paths: ['nothing'],
    })
    expect(held).toMatchObject({ file_reservations: { length: 100 }, has_more: true })
    const [uri = ''] = /resource:\/\/\S+/.exec(held.note) ?? []
    expect((await read(uri)).value).toMatchObject({ length: 120 })
  })

  interface Topic {
    topic_id: string
  }

  verifies('all.lists.onwards', 'topics come in pages, each on one of them', async () => {
    const paged = httpPeer(parley(), '?agent=pager&project=/srv/paged-topics')
    const made: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e'])
      made.unshift((await paged.call<Topic>('topic_create', { name })).topic_id)
    const seen: string[] = []
    for (let before: string | undefined, pages = 0; pages < 3; pages++) {
      const page = await paged.call<{ topics: Topic[]; has_more: boolean; next_before?: string }>('topic_list', {
        limit: 2,
        ...(before !== undefined && { before }),
      })
      seen.push(...page.topics.map(({ topic_id }) => topic_id))
      before = page.next_before
      expect([page.has_more, before !== undefined]).toEqual([pages < 2, pages < 2])
    }
    expect(seen).toEqual(made)
    const unknown = paged.call('topic_list', { before: 'nowhere' })
    await expect(unknown).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
  })
})

describe('A list among the arguments', () => {
  const item: Readonly<Record<string, string>> = {
    to: 'BlueLake',
    cc: 'RedStone@app-123456',
    bcc: 'RedStone',
    paths: 'src/[ab]/{c,d}.ts',
    file_reservation_ids: '12',
    file_reservation_paths: '[id]/page.tsx',
    thread_ids: 'T-1',
    attachment_paths: 'docs/plan.pdf',
    attachments: 'https://example.org/plan.pdf',
    roles: 'reviewer',
  }

  verifies('all.lists.forms', 'may be one text, or JSON in a text', () => {
    let found = 0
    for (const row of allRows) {
      for (const argument of listsOf(row.input)) {
        found++
        expect(item, `${row.name}.${argument} has no sample`).toHaveProperty(argument)
        const one = item[argument] ?? ''
        const given = (value: unknown) => readArguments(row, { ...samples[row.name], [argument]: value })
        expect.soft(given(one), `${row.name}.${argument}`).toEqual(given([one]))
        expect.soft(given(JSON.stringify([one, one])), `${row.name}.${argument}`).toEqual(given([one, one]))
      }
      // No list is passed over.
      for (const [argument, { type, items }] of Object.entries(propertiesOf(inputSchema(row))))
        if (type === 'array' && (items as Json).type !== 'object')
          expect.soft(listsOf(row.input), row.name).toContain(argument)
    }
    expect(found).toBeGreaterThan(10)
  })
})
