/** Projects and identities as agents meet them at the mail door, through the official client in both eras. */
import type { Client } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { callTool, connectClient, type EraName, eras, mailbox, serveHere, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

interface Profile {
  id: number
  name: string
  last_active_ts: string
  unread_count: number
  name_requested?: string
  note?: string
}

/** The answer of a tool; an error is thrown as the client sees it. */
async function call<T = Record<string, unknown>>(client: Client, name: string, args: object): Promise<T> {
  const { structuredContent, isError } = await client.callTool({ name, arguments: { ...args } })
  if (isError) throw (structuredContent as { error: unknown }).error
  return structuredContent as T
}

async function read<T = Record<string, unknown>>(client: Client, uri: string): Promise<T> {
  const { contents } = await client.readResource({ uri })
  return JSON.parse((contents[0] as { text: string }).text) as T
}

const connect = (era: EraName = '2026-07-28') => connectClient(`${parley().url}/mcp`, era)

const two = /^[A-Z][a-z]+[A-Z][a-z]+$/

describe.each(eras)('In %s', (era) => {
  const root = `/srv/${era}`

  verifies(
    ['mail.project.ensure', 'mail.project.slug', 'mail.project.key'],
    'ensure_project answers the same each time',
    async () => {
      const client = await connect(era)
      const made = await call(client, 'ensure_project', { human_key: `${root}/Back End` })
      expect(made).toEqual({
        id: expect.any(Number),
        slug: expect.stringMatching(/^back-end-[0-9a-f]{6}$/),
        human_key: `${root}/Back End`,
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      })
      for (const human_key of [`${root}/Back End`, `${root}/Back End/`])
        expect(await call(client, 'ensure_project', { human_key })).toEqual(made)
      for (const human_key of ['', '   ', 'a\nb', 'nul\0', 'x'.repeat(1025)])
        await expect(call(client, 'ensure_project', { human_key })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    },
  )

  verifies(
    ['mail.project.human-key', 'mail.project.named', 'mail.project.nearest'],
    'a project is made by its path alone, and found by its name',
    async () => {
      const client = await connect(era)
      const human_key = `${root}/${era}/Named Once`
      const { slug } = await call(client, 'ensure_project', { human_key })
      for (const wrong of ['named-once', slug, './app', '~/app'])
        for (const tool of ['ensure_project', 'macro_start_session'])
          await expect(call(client, tool, { human_key: wrong })).rejects.toMatchObject({
            code: 'INVALID_ARGUMENT',
            message: expect.stringContaining('absolute path'),
            hint: expect.any(String),
          })
      expect(await call(client, 'ensure_project', { human_key: 'commons' })).toMatchObject({ slug: 'commons' })
      const { name } = await call(client, 'register_agent', { project_key: human_key })
      const project_key = era === '2025-11-25' ? 'named-once' : slug
      expect(await call(client, 'whois', { project_key, agent_name: name })).toMatchObject({ project: slug })
      await expect(call(client, 'whois', { project_key: 'named-onze', agent_name: name })).rejects.toMatchObject({
        code: 'PROJECT_NOT_FOUND',
        hint: expect.stringMatching(/named-once-[0-9a-f]{6}.*ensure_project/),
      })
    },
  )

  verifies(
    ['mail.agent.same', 'mail.agent.updated', 'mail.agent.policy', 'mail.name.existing'],
    'register_agent makes an agent in a new project, and is that agent again',
    async () => {
      const client = await connect(era)
      const project_key = `${root}/registering`
      const made = await call<Profile>(client, 'register_agent', {
        project_key,
        program: 'codex-cli',
        model: 'gpt5-codex',
        name: 'GreenCastle',
        task_description: 'Auth\nrefactor',
      })
      const { slug, id } = await call(client, 'ensure_project', { human_key: project_key })
      expect(made).toEqual({
        id: expect.any(Number),
        name: 'GreenCastle',
        program: 'codex-cli',
        model: 'gpt5-codex',
        task_description: 'Auth\nrefactor',
        inception_ts: expect.stringMatching(/Z$/),
        last_active_ts: expect.stringMatching(/Z$/),
        contact_policy: 'auto',
        attachments_policy: 'auto',
        unread_count: 0,
        project_id: id,
        project: slug,
      })
      const again = await call<Profile>(client, 'register_agent', {
        project_key: slug,
        name: 'greencastle',
        model: 'm2',
      })
      expect(again).toEqual({ ...made, model: 'm2', last_active_ts: again.last_active_ts })
      expect(again.last_active_ts >= made.last_active_ts).toBe(true)
      expect(await call(client, 'whois', { project_key, agent_name: 'GREENCASTLE' })).toEqual(again)
    },
  )

  verifies('mail.agent.nearest', 'a name that nobody has is answered with near ones, here and elsewhere', async () => {
    const client = await connect(era)
    const [here, there] = [`${root}/near-${era}`, `${root}/far-${era}`]
    const far = era === '2026-07-28' ? 'VioletHill' : 'AmberHill'
    await call(client, 'ensure_project', { human_key: here })
    const { slug } = await call<{ slug: string }>(client, 'ensure_project', { human_key: there })
    await call(client, 'register_agent', { project_key: here, name: 'GreenCastle' })
    await call(client, 'register_agent', { project_key: there, name: far })
    const hint = (agent_name: string, start: string) =>
      expect(call(client, 'whois', { project_key: here, agent_name })).rejects.toMatchObject({
        code: 'AGENT_NOT_FOUND',
        hint: expect.stringContaining(start),
      })
    await hint('GreenCastel', 'Did you mean GreenCastle?')
    await hint(far, `${far}@${slug}`)
    await expect(call(client, 'fetch_inbox', { project_key: here, agent_name: far })).rejects.toMatchObject({
      hint: expect.stringMatching(new RegExp(`^Did you mean ${far}@${slug}\\? Call `)),
    })
  })

  verifies('mail.agent.client', 'program is what the client calls itself if it is left out', async () => {
    const client = await connect(era)
    const args = { project_key: `${root}/clients` }
    const own = { program: 'parley-test', model: 'unknown', task_description: '' }
    expect(await call(client, 'register_agent', { ...args, program: null, model: null })).toMatchObject(own)
    expect(await call(client, 'create_agent_identity', args)).toMatchObject(own)
  })

  verifies(
    ['mail.name.coerce', 'mail.agent.new'],
    'an ill-formed name is replaced, and the answer says so',
    async () => {
      const client = await connect(era)
      const project_key = `${root}/coerced`
      const made = await call<Profile>(client, 'register_agent', { project_key, name: 'my backend bot!' })
      expect(made.name).toMatch(two)
      expect(made).toMatchObject({ name_requested: 'my backend bot!', note: expect.stringContaining(made.name) })
      const hinted = await call<Profile>(client, 'create_agent_identity', { project_key, name_hint: 'blue-lake' })
      expect(hinted.name).toBe('bluelake')
      expect(hinted).not.toHaveProperty('note')
      const other = await call<Profile>(client, 'create_agent_identity', { project_key, name_hint: 'BlueLake' })
      expect(other.id).not.toBe(hinted.id)
      expect(other).toMatchObject({ name: expect.stringMatching(two), name_requested: 'BlueLake' })
    },
  )

  verifies('mail.name.reserved', 'nobody registers as a person', async () => {
    const client = await connect(era)
    const refused = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('reserved'), hint: expect.any(String) }
    const project_key = `${root}/people`
    await expect(call(client, 'register_agent', { project_key, name: 'humanOverseer' })).rejects.toMatchObject(refused)
    await expect(
      call(client, 'create_agent_identity', { project_key, name_hint: 'HumanOverseer' }),
    ).rejects.toMatchObject(refused)
    await expect(call(client, 'whois', { project_key, agent_name: 'Nobody' })).rejects.toMatchObject({
      code: 'PROJECT_NOT_FOUND',
      hint: expect.stringContaining('ensure_project'),
    })
  })

  verifies('mail.agent.list', 'list_agents shows who was active last first, as a wrapped list', async () => {
    const client = await connect(era)
    const project_key = `${root}/listing`
    for (const name of ['AnnOne', 'BobTwo', 'CyThree']) await call(client, 'register_agent', { project_key, name })
    await call(client, 'register_agent', { project_key, name: 'AnnOne' })
    const list = async (args: object = {}) =>
      (await call<{ result: Profile[] }>(client, 'list_agents', { project_key, ...args })).result
    const all = await list()
    expect(all.map(({ name }) => name).sort()).toEqual(['AnnOne', 'BobTwo', 'CyThree'])
    const times = all.map(({ last_active_ts }) => last_active_ts)
    expect(times).toEqual([...times].sort().reverse())
    expect(all.find(({ name }) => name === 'AnnOne')?.last_active_ts).toBe(times[0])
    expect(all[0]).toMatchObject({ program: 'parley-test', contact_policy: 'auto', unread_count: 0 })
    expect(await list({ limit: 1 })).toEqual(all.slice(0, 1))
    expect(await list({ active_within_seconds: 3600 })).toEqual(all)
    for (const args of [{ limit: 0 }, { limit: 1001 }, { active_within_seconds: 0 }])
      await expect(list(args)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  verifies(
    ['mail.project.detail', 'mail.agent.pages'],
    'resources show a project and its agents, by slug or key',
    async () => {
      const client = await connect(era)
      const project_key = `${root}/resources`
      for (const name of ['CyThree', 'AnnOne', 'BobTwo']) await call(client, 'register_agent', { project_key, name })
      const project = await call(client, 'ensure_project', { human_key: project_key })
      const { result } = await call<{ result: Profile[] }>(client, 'list_agents', { project_key })
      const agents = result.sort((a, b) => a.name.localeCompare(b.name))
      for (const slug of [project.slug, encodeURIComponent(project_key)]) {
        expect(await read(client, `resource://project/${slug}`)).toEqual({ ...project, agents, has_more: false })
        expect(await read(client, `resource://agents/${slug}`)).toEqual({
          project: project.slug,
          count: 3,
          agents,
          has_more: false,
        })
      }
      const first = await read(client, `resource://agents/${project.slug}?limit=2`)
      expect(first).toMatchObject({ count: 2, agents: [{ name: 'AnnOne' }, { name: 'BobTwo' }], next_after: 'BobTwo' })
      expect(await read(client, `resource://agents/${project.slug}?after=BobTwo&limit=2`)).toEqual({
        project: project.slug,
        count: 1,
        agents: agents.slice(2),
        has_more: false,
      })
      expect(await read(client, `resource://project/${project.slug}?limit=1`)).toMatchObject({ next_after: 'AnnOne' })
      expect(await read(client, `resource://agents/${project.slug}?active_within_seconds=600`)).toMatchObject({
        count: 3,
      })
      await expect(read(client, 'resource://project/none')).rejects.toThrow(/There is no project "none"/)
      await expect(read(client, `resource://agents/${project.slug}?limit=0`)).rejects.toThrow(/"limit" must be/)
    },
  )

  verifies('mail.project.list', 'resource://projects is listed, and read whole or a page at a time', async () => {
    const client = await connect(era)
    const made = [
      await call(client, 'ensure_project', { human_key: `${root}/first` }),
      await call(client, 'ensure_project', { human_key: `${root}/second` }),
    ]
    expect((await client.listResources()).resources).toContainEqual(
      expect.objectContaining({ uri: 'resource://projects', mimeType: 'application/json' }),
    )
    const all = await read<{ id: number; slug: string }[]>(client, 'resource://projects')
    expect(all.slice(-2)).toEqual(made)
    expect(all[0]?.slug).toBe('commons')
    expect(await read(client, 'resource://projects?limit=1')).toEqual(all.slice(0, 1))
    expect(await read(client, `resource://projects?after=${made[0]?.id}`)).toEqual([made[1]])
    await expect(read(client, 'resource://projects?after=x')).rejects.toThrow(/"after" must be the id of a project/)
  })
})

verifies(
  'mail.agent.whois',
  'whois of an agent that came by the mailbox door counts what it has not read',
  async () => {
    const client = await connect()
    await mailbox(parley(), 'alice', { query: '?project=/srv/shared/' }).send('bob', 'hello')
    const profile = await call(client, 'whois', { project_key: '/srv/shared', agent_name: 'bob' })
    expect(profile).toMatchObject({ name: 'bob', program: 'unknown', unread_count: 1, contact_policy: 'open' })
    expect(await call(client, 'register_agent', { project_key: '/srv/shared', name: 'Bob' })).toMatchObject({
      id: profile.id,
      name: 'bob',
      contact_policy: 'open',
      unread_count: 1,
    })
  },
)

verifies(
  ['mail.name.strict', 'mail.name.always-auto', 'mail.agent.same'],
  'the mode is a setting, and a name outlives a restart and a change of mode',
  async () => {
    const project_key = '/srv/modes'
    const under = async (mode: string, storage?: string) => {
      const server = await serveHere({ env: { AGENT_NAME_ENFORCEMENT_MODE: mode }, ...(storage && { storage }) })
      const register = async (name: string) =>
        (await callTool(`${server.url}/mcp`, 'register_agent', { project_key, name })).structuredContent
      return { server, register }
    }
    const strict = await under('strict')
    expect(await strict.register('backend')).toMatchObject({
      error: { code: 'INVALID_ARGUMENT', hint: expect.stringMatching(/ [A-Z][a-z]+[A-Z][a-z]+, which is free/) },
    })
    const made = await strict.register('GreenCastle')
    expect(made).toMatchObject({ name: 'GreenCastle', program: 'unknown' })
    await strict.server.stop()
    const auto = await under('always_auto', strict.server.storage)
    expect(await auto.register('GreenCastle')).toMatchObject({ id: made?.id, name: 'GreenCastle' })
    expect(await auto.register('MyName')).toMatchObject({
      name: expect.not.stringMatching('MyName'),
      name_requested: 'MyName',
    })
  },
)

test('What an agent says of itself has bounds', async () => {
  const client = await connect()
  const project_key = '/srv/bounds'
  const register = (args: object) => call(client, 'register_agent', { project_key, ...args })
  const good = { program: 'p'.repeat(128), model: ' m ', task_description: 't'.repeat(2000) }
  expect(await register(good)).toMatchObject({ ...good, model: 'm' })
  for (const args of [
    { program: '' },
    { program: 'p'.repeat(129) },
    { model: 'a\nb' },
    { task_description: 't'.repeat(2001) },
    { task_description: 'bell\u0007' },
    { name: 'n'.repeat(129) },
    { name: 'nul\0' },
    { nickname: 'x' },
  ])
    await expect(register(args), JSON.stringify(args)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})
