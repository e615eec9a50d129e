/** The stories of mail, call for call: onboarding, walkthrough, plain requests, the blurb, Beads. */
import { describe, expect } from 'vitest'
import { connectMail, type Message, type Page, plainMail, type Receipt } from '../support/mail.ts'
import { eras, type Served, serveHere } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

// As the specification writes them; each test has a server of its own.
const backend = '/abs/path/backend'
const frontend = '/abs/path/frontend'

interface Reserved {
  granted: { id: number; path_pattern: string; exclusive: boolean; reason: string; expires_ts: string }[]
  conflicts: { path: string; holders: { agent: string }[] }[]
}

interface Summary {
  thread_id: string
  summary: { participants: string[]; total_messages: number }
  examples: { id: number; from: string; body_md: string }[]
}

interface Profile {
  name: string
  program: string
  model: string
  task_description: string
  project: string
}

describe.each(eras)('A client of %s', (era) => {
  verifies('mail.story.onboarding', 'goes through the three steps of the onboarding', async () => {
    const { call } = await connectMail(await serveHere(), era)
    const profile = await call('register_agent', {
      project_key: backend,
      program: 'codex-cli',
      model: 'gpt5-codex',
      name: 'BlueLake',
    })
    expect(profile).toMatchObject({ name: 'BlueLake', program: 'codex-cli', model: 'gpt5-codex' })

    const reserved = await call<Reserved>('file_reservation_paths', {
      project_key: backend,
      agent_name: 'BlueLake',
      paths: ['app/api/*.py'],
      ttl_seconds: 3600,
      exclusive: true,
    })
    expect(reserved).toMatchObject({ granted: [{ path_pattern: 'app/api/*.py', exclusive: true }], conflicts: [] })

    const sent = await call<Receipt>('send_message', {
      project_key: backend,
      sender_name: 'BlueLake',
      to: ['BlueLake'],
      subject: 'Plan',
      body_md: 'hello',
    })
    expect(sent).toMatchObject({ count: 1, deliveries: [{ recipient: 'BlueLake', kind: 'to' }], blocked: [] })
    // "<id>" stands in quotes there: an id may come as a text.
    const acknowledged = await call('acknowledge_message', {
      project_key: backend,
      agent_name: 'BlueLake',
      message_id: String(sent.message_id),
    })
    expect(acknowledged).toMatchObject({ message_id: sent.message_id, acknowledged: true })
    expect(Date.parse(String(acknowledged.acknowledged_at))).toBeGreaterThanOrEqual(Date.parse(sent.created_ts))
    expect(Date.parse(String(acknowledged.read_at))).toBeGreaterThanOrEqual(Date.parse(sent.created_ts))
  })

  verifies('mail.story.walkthrough', 'goes through the walkthrough from end to end', async () => {
    const { call } = await connectMail(await serveHere(), era)
    const green = await call<Profile>('register_agent', {
      project_key: backend,
      program: 'codex-cli',
      model: 'gpt5-codex',
      name: 'GreenCastle',
      task_description: 'Auth refactor',
    })
    const blue = await call<Profile>('register_agent', {
      project_key: frontend,
      program: 'claude-code',
      model: 'opus-4.1',
      name: 'BlueLake',
      task_description: 'Navbar redesign',
    })
    expect([green, blue]).toMatchObject([
      { name: 'GreenCastle', task_description: 'Auth refactor' },
      { name: 'BlueLake', task_description: 'Navbar redesign' },
    ])
    expect(green.project).not.toBe(blue.project)

    const { granted } = await call<Reserved>('file_reservation_paths', {
      project_key: backend,
      agent_name: 'GreenCastle',
      paths: ['app/api/*.py'],
      ttl_seconds: 7200,
      exclusive: true,
      reason: 'migrations',
    })
    expect(granted).toMatchObject([{ path_pattern: 'app/api/*.py', exclusive: true, reason: 'migrations' }])

    const sent = await call<Receipt>('send_message', {
      project_key: backend,
      sender_name: 'GreenCastle',
      to: ['BlueLake'],
      subject: 'Plan for /api/users',
      body_md: 'Here is the flow...\n\n![diagram](docs/flow.png)',
    })
    expect(sent).toMatchObject({ count: 1, deliveries: [{ recipient: 'BlueLake', project: green.project }] })

    const [plan, ...others] = await call<Message[]>('fetch_inbox', {
      project_key: backend,
      agent_name: 'BlueLake',
      include_bodies: true,
    })
    expect(others).toEqual([])
    expect(plan).toMatchObject({
      id: sent.message_id,
      from: 'GreenCastle',
      to: ['BlueLake'],
      subject: 'Plan for /api/users',
      body_md: 'Here is the flow...\n\n![diagram](docs/flow.png)',
      read_ts: null,
    })
    const reply = await call<Receipt>('reply_message', {
      project_key: backend,
      message_id: sent.message_id,
      sender_name: 'BlueLake',
      body_md: 'Questions: ...',
    })
    expect(reply).toMatchObject({
      thread_id: String(sent.message_id),
      reply_to: sent.message_id,
      subject: 'Re: Plan for /api/users',
      deliveries: [{ recipient: 'GreenCastle', kind: 'to' }],
    })

    // The id in the specification's call was never given to a message: the error says where ids come from.
    const summarize = (thread_id: string) =>
      call<Summary>('summarize_thread', { project_key: backend, thread_id, include_examples: true })
    await expect(summarize('TKT-123')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
    const { thread_id, summary, examples } = await summarize(String(reply.thread_id))
    expect(thread_id).toBe(reply.thread_id)
    expect(summary.total_messages).toBe(2)
    expect(new Set(summary.participants)).toEqual(new Set(['GreenCastle', 'BlueLake']))
    expect(examples.map(({ id }) => id).sort()).toEqual([sent.message_id, reply.message_id].sort())
    // The diagram, the archive and the guard: mail-walkthrough.test.ts.
  })

  verifies(['mail.story.uri', 'mail.story.guide'], 'reads the resources as the guide says', async () => {
    const { call, read } = await connectMail(await serveHere(), era)
    const { clusters, metrics_uri } = await read<{
      clusters: { name: string; tools: { name: string }[] }[]
      metrics_uri: string
    }>('resource://tooling/directory')
    const messaging = clusters.find(({ name }) => name === 'messaging')?.tools.map(({ name }) => name)
    expect(messaging).toEqual(expect.arrayContaining(['send_message', 'reply_message', 'fetch_inbox']))

    const { project } = await call<Profile>('register_agent', { project_key: backend, name: 'BlueLake' })
    await call('send_message', {
      project_key: backend,
      sender_name: 'BlueLake',
      to: ['BlueLake'],
      subject: 'Note',
      body_md: 'to myself',
    })
    const { tools } = await read<{ tools: { name: string; calls: number; errors: number }[] }>(metrics_uri)
    expect(tools).toContainEqual(expect.objectContaining({ name: 'send_message', calls: 1, errors: 0 }))
    const { entries } = await read<{ entries: { tool: string; agent: string }[] }>(
      `resource://tooling/recent/60?agent=BlueLake&project=${project}`,
    )
    expect(entries.map(({ tool }) => tool)).toEqual(['send_message', 'register_agent'])

    const inbox = await read<Page>('resource://inbox/BlueLake?project=/abs/path/backend&limit=20')
    expect(inbox).toMatchObject({ project, agent: 'BlueLake', count: 1, messages: [{ subject: 'Note' }] })
  })
})

describe.each(['/mcp', '/mcp/'])('A plain request to %s', (path) => {
  /** `curl -sS -X POST … -H 'content-type: application/json' -d …` and `httpx.post(URL, json=payload)`. */
  async function post<Result>({ url }: Served, payload: object): Promise<Result> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: '1', ...payload })
    const response = await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    const answer = (await response.json()) as { id: string; result: Result }
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: '1', result: expect.anything() })
    return answer.result
  }

  verifies(['mail.story.curl', 'mail.story.uri'], 'registers an agent and reads its inbox', async () => {
    const parley = await serveHere()
    // JSON-RPC clients of this protocol find what a tool answers in structuredContent.
    const { structuredContent: profile } = await post<{ structuredContent: Profile }>(parley, {
      method: 'tools/call',
      params: {
        name: 'register_agent',
        arguments: {
          project_key: '/abs/path/backend',
          program: 'codex-cli',
          model: 'gpt5-codex',
          task_description: 'Auth refactor',
        },
      },
    })
    expect(profile.name).toMatch(/^[A-Z][a-z]+[A-Z][a-z]+$/)
    expect(profile).toMatchObject({ program: 'codex-cli', model: 'gpt5-codex', task_description: 'Auth refactor' })

    const uri = `resource://inbox/${profile.name}?project=/abs/path/backend&limit=5`
    const { contents } = await post<{ contents: { uri: string; text: string }[] }>(parley, {
      method: 'resources/read',
      params: { uri },
    })
    expect(contents).toHaveLength(1)
    expect(contents[0]?.uri).toBe(uri)
    expect(JSON.parse(contents[0]?.text ?? '')).toEqual({
      project: profile.project,
      agent: profile.name,
      count: 0,
      messages: [],
      has_more: false,
    })
  })

  verifies('mail.story.curl', 'starts a day with one call, as the OpenCode script does', async () => {
    const parley = await serveHere()
    const { structuredContent: day } = await post<{ structuredContent: Record<string, unknown> }>(parley, {
      method: 'tools/call',
      params: { name: 'macro_start_session', arguments: { human_key: '/abs/path/backend' } },
    })
    expect(day).toMatchObject({
      project: { human_key: '/abs/path/backend' },
      agent: { name: expect.stringMatching(/^[A-Z]/) },
    })
    expect(day.inbox).toEqual([])
    const { name } = day.agent as Profile
    const uri = `resource://inbox/${name}?project=/abs/path/backend&limit=10`
    expect(await plainMail(parley, path).read<Page>(uri)).toMatchObject({ agent: name, count: 0 })
  })
})
