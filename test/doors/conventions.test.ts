/** What all tools and resources have in common: each table is walked, so that a new row cannot forget it. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { Hub } from '../../src/core/hub/hub.ts'
import { busDoor } from '../../src/doors/bus/door.ts'
import type { About } from '../../src/doors/mail/about.ts'
import { mailDoor } from '../../src/doors/mail/door.ts'
import { mailboxDoor } from '../../src/doors/mailbox/door.ts'
import { listsOf, readArguments } from '../../src/doors/mcp/args.ts'
import { inputSchema, outputSchema } from '../../src/doors/mcp/schema.ts'
import { type Desk, newDesk } from '../support/mail.ts'
import { callTool, connectClient, mailbox, shareServer } from '../support/parley.ts'
import { busSamples, mailboxSamples, mailSamples } from '../support/samples.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

type Json = Record<string, unknown>

interface Row {
  readonly name: string
  readonly input: z.ZodObject
  readonly output?: z.ZodType
  readonly wrapped?: boolean
  accept?(args: Json): Json
}

const nowhere = {} as unknown as Hub
const about = { http: {} } as unknown as About
const samples = { ...mailSamples('/srv/app'), ...busSamples, ...mailboxSamples }
const rows: readonly Row[] = [mailDoor(nowhere, about), mailboxDoor(nowhere), busDoor(nowhere, '1')].flatMap(
  (door) => door.tools as readonly Row[],
)

const propertiesOf = (schema: unknown) => ((schema as Json | undefined)?.properties ?? {}) as Record<string, Json>

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
    ...['summarize_thread.examples', 'summarize_threads.threads'],
    ...['topic_close.warnings', 'topic_reopen.warnings'],
  ])

  verifies('all.lists.more', 'of a tool says whether there is more', () => {
    let found = 0
    for (const row of rows) {
      const properties = propertiesOf(outputSchema(row))
      for (const [field, { type }] of Object.entries(properties)) {
        if (type !== 'array' || whole.has(`${row.name}.${field}`) || ofInboxes.has(`${row.name}.${field}`)) continue
        found++
        const said = properties.has_more ?? properties[`${field}_has_more`]
        expect.soft(said, `${row.name}.${field}`).toMatchObject({ type: 'boolean' })
      }
    }
    expect(found).toBeGreaterThan(6)
  })

  /** Paged by rules of their own (mail.inbox.reads-on). */
  const ofInboxes = new Set(['fetch_inbox.result', 'macro_start_session.inbox', 'macro_prepare_thread.inbox'])

  let desk: Desk
  let id = 0
  beforeAll(async () => {
    desk = await newDesk(parley())
    id = (await desk.send({ thread_id: 'T-1' })).message_id
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
  })

  /** Of these resources lists are the subject, and they are told whole. */
  const complete = [
    'tooling/directory',
    'tooling/schemas',
    'tooling/metrics',
    'tooling/locks',
    'tooling/capabilities',
    'message/',
  ]
  const paged = ['inbox/', 'mailbox/', 'outbox/', 'views/', 'thread/']

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
      if ([...complete, ...paged].some((path) => uri.startsWith(`resource://${path}`))) continue
      const [, base = '', query = ''] = /^([^{]*(?:\{\w+\}[^{]*)*)(?:\{\?(.*)\})?$/.exec(uri) ?? []
      const path = base.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values()[name] ?? ''))
      const names = query.split(',').filter((name) => name === 'project' || name === 'limit')
      const asked = `${path}?${names.map((name) => `${name}=${encodeURIComponent(values()[name] ?? '')}`).join('&')}`
      const { value, meta } = await read(names.length > 0 ? asked : path)
      const lists = Array.isArray(value) || Object.values(value as Json).some(Array.isArray)
      if (!lists) continue
      found++
      const said = Array.isArray(value) ? meta : (value as Json)
      expect.soft(said?.has_more, asked).toBe(names.includes('limit'))
      if (names.includes('limit'))
        expect
          .soft(
            Object.keys(said ?? {}).filter((key) => key.startsWith('next_')),
            asked,
          )
          .toHaveLength(1)
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
  }

  verifies('all.lists.forms', 'may be one text, or JSON in a text', () => {
    let found = 0
    for (const row of rows) {
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

describe('The name of an agent', () => {
  /** Texts that name an agent, and those that do not: a new one has to be put into either. */
  const agents = ['agent_name', 'sender_name', 'from_agent', 'to_agent', 'requester', 'target', 'to', 'cc', 'bcc']
  const others = [
    ...['project_key', 'human_key', 'to_project', 'from_project', 'program', 'model', 'task_description', 'name_hint'],
    ...['subject', 'body_md', 'importance', 'thread_id', 'client_message_id', 'subject_prefix', 'since_ts', 'reason'],
    ...['policy', 'on_conflict', 'query', 'llm_model', 'welcome_subject', 'welcome_body', 'file_reservation_reason'],
    ...['paths', 'file_reservation_paths', 'file_reservation_ids', 'thread_ids'],
  ]
  /** Here `name` is the agent's own. */
  const namesItself = ['register_agent']

  verifies('all.names.address', 'may be Name@project in every tool of mail', async () => {
    const desk = await newDesk(parley())
    const { message_id } = await desk.send()
    const { slug } = await desk.door.call<{ slug: string }>('ensure_project', { human_key: desk.project })
    const outcome = (tool: string, args: Json) =>
      desk.door.call(tool, args).then(
        () => 'answered',
        (error: { code: string }) => error.code,
      )
    let found = 0
    for (const { name: tool, input } of mailDoor(nowhere, about).tools as readonly Row[]) {
      const sample = mailSamples(desk.project, message_id)[tool] ?? {}
      for (const [argument, { type, items }] of Object.entries(propertiesOf(inputSchema({ input })))) {
        const text = type === 'string' || (type === 'array' && (items as Json).type !== 'object')
        if (!text || others.includes(argument) || (argument === 'name' && namesItself.includes(tool))) continue
        expect(agents, `${tool}.${argument} is neither known as an agent's name nor as something else`).toContain(
          argument,
        )
        const plain = sample[argument] ?? 'RedStone'
        const names = [plain].flat()
        for (const home of [slug, desk.project]) {
          found++
          const addressed = { ...sample, [argument]: names.map((name) => `${name}@${home}`) }
          const args =
            Array.isArray(sample[argument]) || ['to', 'cc', 'bcc'].includes(argument)
              ? addressed
              : { ...addressed, [argument]: `${names[0]}@${home}` }
          const expected = await outcome(tool, { ...sample, [argument]: plain })
          expect.soft([tool, argument, home, await outcome(tool, args)]).toEqual([tool, argument, home, expected])
        }
      }
    }
    expect(found).toBeGreaterThan(40)
  })

  verifies('all.names.address', 'is of the project it tells, or an error where that is another', async () => {
    const [here, there] = [await newDesk(parley()), await newDesk(parley())]
    await there.door.call('register_agent', { project_key: there.project, name: 'WhiteRiver' })
    const { slug } = await there.door.call<{ slug: string }>('ensure_project', { human_key: there.project })
    const project_key = here.project
    const call = <Value = Json>(tool: string, args: Json) => here.door.call<Value>(tool, { project_key, ...args })
    expect(await call('whois', { agent_name: `WhiteRiver@${slug}` })).toMatchObject({
      name: 'WhiteRiver',
      project: slug,
    })
    const asked = { from_agent: 'GreenCastle', to_agent: `whiteriver@${slug}` }
    expect(await call('request_contact', asked)).toMatchObject({ to: 'WhiteRiver', to_project: slug })
    for (const [tool, args] of Object.entries({
      fetch_inbox: { agent_name: `WhiteRiver@${slug}` },
      file_reservation_paths: { agent_name: `GreenCastle@${slug}`, paths: ['a'] },
    }))
      await expect(call(tool, args)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(slug),
        hint: expect.stringContaining(slug),
      })
    // Whoever registers again may say where it is at home; a stranger's address is a wish like any other.
    expect(await there.door.call('register_agent', { project_key: slug, name: `WhiteRiver@${slug}` })).toMatchObject({
      name: 'WhiteRiver',
    })
    expect(await call('register_agent', { name: `WhiteRiver@${slug}` })).toHaveProperty('name_requested')
  })

  verifies('all.names.address', 'may be Name@project in resources', async () => {
    const { door, project, send } = await newDesk(parley())
    await send()
    const { slug } = await door.call<{ slug: string }>('ensure_project', { human_key: project })
    const client = await connectClient(`${parley().url}/mcp`, '2025-11-25')
    const { resourceTemplates } = await client.listResourceTemplates()
    const ofAgents = resourceTemplates.map(({ uriTemplate }) => uriTemplate).filter((uri) => uri.includes('{agent}'))
    expect(ofAgents.length).toBeGreaterThan(7)
    for (const uri of ofAgents) {
      const at = (agent: string, query = '') =>
        door.read<Json>(`${uri.replace(/\{\?.*\}$/, '').replace('{agent}', encodeURIComponent(agent))}${query}`)
      const { generated_at: _, ...plain } = await at('BlueLake', `?project=${slug}`)
      for (const query of ['', `?project=${encodeURIComponent(project)}`]) {
        const { generated_at: _, ...addressed } = await at(`BlueLake@${slug}`, query)
        expect.soft({ ...addressed, project: slug }, uri).toEqual(plain)
      }
    }
    const recent = await door.read<{ count: number }>(`resource://tooling/recent/60?agent=greencastle@${slug}`)
    expect(recent.count).toBeGreaterThan(0)
  })

  verifies('all.names.address', 'may be Name@project at the mailbox door, in the call and in the path', async () => {
    const { project } = await newDesk(parley())
    const [alice, bob] = [mailbox(parley(), 'alice'), mailbox(parley(), 'bob', { query: `?project=${project}` })]
    await bob.check()
    await alice.send(`bob@${project}`, 'over there')
    const path = encodeURIComponent(`bob@${project}`)
    expect(await mailbox(parley(), path).check()).toMatchObject({ content: 'over there' })
    const both = fetch(`${parley().url}/agents/${path}/mcp?project=/srv/other`, { method: 'POST', body: '{}' })
    expect((await both).status).toBeGreaterThanOrEqual(400)
    const { isError } = await callTool(`${parley().url}/agents/alice/mcp`, 'send_to_agent', { name: 'bob@', msg: 'x' })
    expect(isError).toBe(true)
  })

  test('is taken as it is on the bus, where a name may hold an "@" itself', () => {
    const join = rows.find(({ name }) => name === 'topic_join')
    expect(join && readArguments(join, { agent_name: 'red@squirrel', topic_id: 'x' })).toMatchObject({
      agent_name: 'red@squirrel',
    })
  })
})
