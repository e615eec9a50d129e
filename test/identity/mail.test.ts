/** The mail door for clients whose connection says who they are: shorter lists, fewer arguments, and no contradictions. */
import type { Client } from '@modelcontextprotocol/client'
import { describe, expect } from 'vitest'
import { signShared } from '../support/authority.ts'
import { printedBy } from '../support/cli.ts'
import { newProject } from '../support/mail.ts'
import { callTool, connectClient, type EraName, eras, serveHere, share, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const secret = 'a secret of more than thirty-two bytes'
const env = { HTTP_JWT_ENABLED: 'true', HTTP_JWT_SECRET: secret }
/** Two servers of one store: the second has not seen what the first made, and knows of its keys at once. */
const both = share(async (later) => {
  const storage = await temporaryFolder(later)
  return { parley: await serveHere({ env, storage, later }), maker: await serveHere({ env, storage, later }) }
})
const parley = () => both().parley
const url = (query: Record<string, string> = {}) => `${parley().url}/mcp?${new URLSearchParams(query)}`
const named = (name: string) => ({ 'X-Parley-Agent': name })

interface Answer {
  readonly error?: { readonly code: string; readonly message: string; readonly hint: string }
  readonly [field: string]: unknown
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<Answer> =>
  (await client.callTool({ name, arguments: args })).structuredContent as Answer

/** The key of an agent that its connection registers. */
async function keyOf(name: string, project: string): Promise<string> {
  await callTool(`${both().maker.url}/mcp?${new URLSearchParams({ project, agent: name })}`, 'register_agent')
  const printed = await printedBy(parley(), ['keys', 'create', name, '--project', project])
  return /amb_[0-9a-f]{64}/.exec(printed)?.[0] ?? ''
}

/** The first answer to a client, before any call: the official one shows it in the older era only. */
async function refusalOf(endpoint: string, era: EraName, headers: Record<string, string>): Promise<string> {
  const modern = era === '2026-07-28'
  const prefix = 'io.modelcontextprotocol'
  const _meta = { [`${prefix}/protocolVersion`]: era, [`${prefix}/clientCapabilities`]: {} }
  const info = { protocolVersion: era, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const method = modern ? 'server/discover' : 'initialize'
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(modern && { 'MCP-Protocol-Version': era, 'Mcp-Method': method }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: modern ? { _meta } : info }),
  })
  const { error } = (await response.json()) as { error?: { message: string } }
  return error?.message ?? 'no refusal'
}

/** Names that mean the caller or its project, unless the tool is about somebody else. */
const own = ['project_key', 'human_key', 'sender_name', 'agent_name', 'from_agent', 'requester']
const ofOthers = ['whois.agent_name', 'respond_contact.from_agent']

const listed = async (client: Client) => {
  const { tools } = await client.listTools()
  const shown = tools.flatMap(({ name, inputSchema }) =>
    Object.keys(inputSchema.properties ?? {}).map((argument) => `${name}.${argument}`),
  )
  const ownOnes = shown.filter((one) => own.includes(one.split('.')[1] ?? '') && !ofOthers.includes(one))
  const needed = tools.flatMap(({ name, inputSchema }) => (inputSchema.required ?? []).map((one) => `${name}.${one}`))
  return { tools, shown, ownOnes, needed, length: JSON.stringify({ tools }).length }
}

describe.each(eras)('In %s', (era) => {
  verifies(
    ['identity.tools.short', 'identity.arguments.filled', 'identity.name.kept', 'identity.greeting.session'],
    'a client that says who and where it is need not say so again',
    async () => {
      const project = newProject()
      const alice = await connectClient(url({ project }), era, named('alice'))
      const bob = await connectClient(url({ project, agent: 'bob' }), era)
      for (const client of [alice, bob]) {
        const { ownOnes, shown, length } = await listed(client)
        expect(ownOnes).toEqual([])
        expect(shown).toEqual(expect.arrayContaining([...ofOthers, 'request_contact.to_agent', 'send_message.to']))
        expect(length).toBeLessThan(18_000)
      }
      const begun = await call(alice, 'macro_start_session')
      expect(begun).toMatchObject({ agent: { name: 'alice' }, project: { human_key: project } })
      expect(begun.whoami).toBe(`You are alice in the project ${project}, with no unread messages.`)
      expect(begun.agent).not.toHaveProperty('note')
      expect(await call(bob, 'register_agent')).toMatchObject({ name: 'bob' })
      const sent = await call(alice, 'send_message', { to: ['bob'], subject: 'Plan', body_md: 'hello' })
      expect(sent.deliveries).toMatchObject([{ recipient: 'bob' }])
      expect(await call(bob, 'fetch_inbox')).toMatchObject({ result: [{ from: 'alice', subject: 'Plan' }] })
      const { whoami } = await call(bob, 'macro_start_session', { task_description: 'tests' })
      expect(whoami).toBe(`You are bob in the project ${project}, with 1 unread message. Read them with fetch_inbox.`)
      await call(bob, 'acknowledge_message', { message_id: sent.message_id })
      expect(await call(bob, 'file_reservation_paths', { paths: ['src/**'] })).toMatchObject({ conflicts: [] })
      const held = await call(alice, 'macro_file_reservation_cycle', { paths: ['src/a.ts'], auto_release: true })
      expect(held.file_reservations).toMatchObject({ conflicts: [{ holders: [{ agent: 'bob' }] }] })
      expect(await call(alice, 'whois', { agent_name: 'bob' })).toMatchObject({ task_description: 'tests' })
      expect(await call(alice, 'list_agents')).toMatchObject({ result: [{}, {}] })
      await call(alice, 'request_contact', { to_agent: 'bob' })
      expect(await call(bob, 'respond_contact', { from_agent: 'alice', accept: true })).toMatchObject({
        status: 'approved',
      })
    },
  )

  verifies('identity.resources.filled', 'a resource of its own is named without agent and project', async () => {
    const project = newProject()
    const alice = await connectClient(url({ project }), era, named('alice'))
    const bob = await connectClient(url({ project }), era, named('bob'))
    const { project: made } = await call(alice, 'macro_start_session')
    const { slug } = made as { slug: string }
    await call(bob, 'register_agent')
    // The same names elsewhere: without its project neither would be found.
    const elsewhere = newProject()
    for (const agent of ['alice', 'bob'])
      await call(await connectClient(url({ project: elsewhere, agent }), era), 'register_agent')
    const sent = await call(bob, 'send_message', { to: ['alice'], subject: 'Plan', body_md: 'hello', thread_id: 'P-1' })
    await call(alice, 'file_reservation_paths', { paths: ['src/**'] })
    const read = async (uri: string, client = alice): Promise<Record<string, unknown>> => {
      const [content] = (await client.readResource({ uri })).contents
      return JSON.parse(content && 'text' in content ? content.text : '') as Record<string, unknown>
    }
    const mine = { project: slug, agent: 'alice', messages: [{ subject: 'Plan', from: 'bob' }] }
    for (const uri of ['inbox', 'inbox?limit=5', 'inbox/alice', 'mailbox', 'mailbox-with-commits'])
      expect(await read(`resource://${uri}`), uri).toMatchObject(mine)
    for (const view of ['urgent-unread', 'ack-required', 'acks-stale', 'ack-overdue'])
      expect(await read(`resource://views/${view}`), view).toMatchObject({ agent: 'alice', count: 0 })
    expect(await read('resource://outbox', bob)).toMatchObject({ agent: 'bob', messages: [{ subject: 'Plan' }] })
    expect(await read(`resource://message/${sent.message_id}`)).toMatchObject({ subject: 'Plan' })
    expect(await read('resource://thread/P-1')).toMatchObject({ project: slug, count: 1 })
    expect(await read('resource://project')).toMatchObject({ slug, agents: [{}, {}] })
    expect(await read('resource://agents')).toMatchObject({ project: slug, count: 2 })
    expect(await read('resource://file_reservations')).toMatchObject([{ path_pattern: 'src/**' }])
    expect(await read('resource://tooling/capabilities')).toMatchObject({ agent: 'alice' })
    // A URI that names somebody, or some other project, means it.
    expect(await read('resource://inbox/bob')).toMatchObject({ project: slug, agent: 'bob', count: 0 })
    expect(await read(`resource://inbox/alice?project=${elsewhere}`)).toMatchObject({ agent: 'alice', count: 0 })
    expect(await read(`resource://inbox/alice@${encodeURIComponent(elsewhere)}`)).toMatchObject({ count: 0 })
    expect(await read(`resource://agents/${slug}`, await connectClient(url(), era))).toMatchObject({ count: 2 })
    const { resourceTemplates } = await alice.listResourceTemplates()
    const inbox = resourceTemplates.find(({ name }) => name === 'inbox')
    expect(inbox?.uriTemplate).toMatch(/^resource:\/\/inbox\{\/agent\}\{\?project,/)
    expect(inbox?.description).toContain('agent and project may be left out: the connection tells them.')
    expect(resourceTemplates.find(({ name }) => name === 'thread')?.description).toContain('project may be left out')
    const stranger = await connectClient(url(), era)
    const plain = (await stranger.listResourceTemplates()).resourceTemplates.find(({ name }) => name === 'inbox')
    expect(plain?.uriTemplate).toMatch(/^resource:\/\/inbox\/\{agent\}/)
    expect(plain?.description).not.toContain('left out')
    await expect(stranger.readResource({ uri: 'resource://inbox' })).rejects.toThrow(
      'The parameter "agent" is missing: name the agent',
    )
  })

  verifies('identity.arguments.agree', 'arguments that differ from the connection are refused', async () => {
    const project = newProject()
    const client = await connectClient(url({ project }), era, named('alice'))
    const agreeing = { human_key: `${project}/`, agent_name: 'ALICE' }
    const { project: made } = await call(client, 'macro_start_session', agreeing)
    const { slug } = made as { slug: string }
    expect(await call(client, 'fetch_inbox', { project_key: slug, agent_name: `alice@${slug}` })).toMatchObject({
      result: [],
    })
    const letter = { to: ['alice'], subject: 'Plan', body_md: 'hello' }
    const cases: [tool: string, args: Record<string, unknown>, argument: string, says: string][] = [
      ['send_message', { ...letter, sender_name: 'bob' }, 'sender_name', '"bob"'],
      ['fetch_inbox', { agent_name: 'alice@commons' }, 'agent_name', '"alice@commons"'],
      ['fetch_inbox', { project_key: 'commons' }, 'project_key', '"commons"'],
      ['macro_start_session', { human_key: newProject() }, 'human_key', `"${project}"`],
      ['macro_contact_handshake', { agent_name: 'bob', target: 'carol' }, 'requester', '"alice"'],
    ]
    for (const [tool, args, argument, says] of cases) {
      const { error } = await call(client, tool, args)
      expect(error, tool).toMatchObject({ code: 'INVALID_ARGUMENT', hint: expect.stringContaining('Leave') })
      expect(error?.message).toContain(`Argument "${argument}" is `)
      expect(error?.message).toContain(says)
    }
  })

  verifies('identity.credential.home', 'a key or a token tells both, and the list is short', async () => {
    const project = newProject()
    await call(await connectClient(url(), era), 'ensure_project', { human_key: project })
    const key = await keyOf('Owned', project)
    const token = await signShared(secret, { agent: `Token@${project}`, role: 'writer' })
    for (const [name, credential] of Object.entries({ Owned: key, Token: token })) {
      const client = await connectClient(url(), era, { Authorization: `Bearer ${credential}` })
      expect((await listed(client)).length).toBeLessThan(18_000)
      const { agent, whoami } = await call(client, 'macro_start_session')
      expect(agent).toMatchObject({ name })
      expect(whoami).toContain(`You are ${name} in the project ${project}`)
      expect(client.getInstructions()).toContain(`You are ${name} in the project ${project}`)
      expect(await call(client, 'fetch_inbox', { agent_name: name })).toMatchObject({ result: [] })
      const other = await call(client, 'fetch_inbox', { agent_name: name === 'Owned' ? 'Token' : 'Owned' })
      expect(other.error).toMatchObject({ code: expect.stringMatching(/FORBIDDEN|AGENT_NOT_FOUND/) })
    }
  })

  verifies('identity.credential.rules', 'what fights with a key is refused before the first call', async () => {
    const project = newProject()
    await call(await connectClient(url(), era), 'ensure_project', { human_key: project })
    const token = await signShared(secret, { agent: `Token@${project}`, role: 'writer' })
    for (const credential of [await keyOf('Owned', project), token]) {
      const held = { Authorization: `Bearer ${credential}` }
      const agreeing = { ...held, ...named(credential === token ? 'token' : 'owned') }
      await connectClient(url({ project }), era, agreeing)
      const cases = [
        [url(), { ...held, ...named('bob') }, /calls you "bob".*key decides/],
        [url({ agent: 'bob' }), held, /calls you "bob".*key decides/],
        [url({ project: 'commons' }), held, /\?project= on the URL.*key decides/],
      ] as const
      for (const [endpoint, headers, says] of cases) {
        expect(await refusalOf(endpoint, era, headers)).toMatch(says)
        // A call with every argument right is refused too.
        const args = { project_key: project, agent_name: credential === token ? 'Token' : 'Owned' }
        const { structuredContent } = await callTool(endpoint, 'fetch_inbox', args, { headers })
        expect(structuredContent?.error).toMatchObject({ code: 'FORBIDDEN' })
      }
    }
  })

  verifies('identity.name.foreign', 'a name without the key of its agent opens nothing', async () => {
    const project = newProject()
    await call(await connectClient(url(), era), 'macro_start_session', { human_key: project, agent_name: 'BlueLake' })
    const key = await keyOf('GreenCastle', project)
    const blue = await connectClient(url({ project }), era, named('BlueLake'))
    await call(blue, 'send_message', { to: ['GreenCastle'], subject: 'Secret', body_md: 'for you alone' })
    const owner = await connectClient(url(), era, { 'X-API-Key': key })
    expect(owner.getInstructions()).toContain('with 1 unread message.')
    const thief = await connectClient(url({ project }), era, named('GreenCastle'))
    expect(thief.getInstructions()).toContain('that agent has a key, and you sent none')
    expect(thief.getInstructions()).not.toContain('unread message')
    for (const [tool, args] of [
      ['fetch_inbox', {}],
      ['macro_start_session', {}],
      ['send_message', { to: ['BlueLake'], subject: 'Me', body_md: 'truly' }],
    ] as const)
      expect((await call(thief, tool, args)).error, tool).toMatchObject({ code: 'FORBIDDEN' })
  })

  verifies(
    ['identity.name.made-up', 'identity.tools.optional'],
    'who says only where it is gets a name to keep',
    async () => {
      const project = newProject()
      const client = await connectClient(url({ project }), era)
      const { needed, ownOnes } = await listed(client)
      expect(ownOnes).toContain('send_message.project_key')
      expect(needed).not.toContain('send_message.project_key')
      expect(needed).toContain('send_message.sender_name')
      const begun = await call(client, 'macro_start_session')
      const { name, note } = begun.agent as { name: string; note: string }
      expect(note).toContain(`set the header "X-Parley-Agent: ${name}" in your client's settings`)
      expect(note).toContain(`AGENT_NAME=${name} where`)
      const { error } = await call(client, 'fetch_inbox')
      expect(error?.hint).toContain('X-Parley-Agent')
      const again = await connectClient(url({ project }), era, named(name))
      expect((await call(again, 'macro_start_session')).agent).toMatchObject({ name })
    },
  )

  verifies('identity.greeting.who', 'the instructions greet whom the connection names', async () => {
    const project = newProject()
    const instructions = async (query: Record<string, string>, headers = {}) =>
      (await connectClient(url(query), era, headers)).getInstructions() ?? ''
    const first = await instructions({ project, agent: 'alice' })
    expect(first).toContain(`You are alice in the project ${project}, and new there. Call macro_start_session first.`)
    expect(first).not.toContain('human_key')
    await call(await connectClient(url({ project, agent: 'alice' }), era), 'register_agent')
    const bob = await connectClient(url({ project, agent: 'bob' }), era)
    await call(bob, 'register_agent')
    for (const subject of ['One', 'Two']) await call(bob, 'send_message', { to: ['alice'], subject, body_md: 'hello' })
    const next = await instructions({ project }, named('Alice'))
    expect(next).toContain(
      `You are alice in the project ${project}, with 2 unread messages. Read them with fetch_inbox.`,
    )
    expect(next.length).toBeLessThan(4000)
    expect((await instructions({ project: `/srv/${'x'.repeat(1000)}`, agent: 'alice' })).length).toBeLessThan(4000)
    expect(await instructions({})).toMatch(/^Mail for coding agents/)
  })

  verifies('identity.tools.short', 'the prompts name no argument that is not listed', async () => {
    const client = await connectClient(url({ project: newProject(), agent: 'alice' }), era)
    const { shown } = await listed(client)
    for (const name of ['start', 'check-mail', 'catch-up', 'hand-over'])
      for (const given of [{}, name === 'start' ? { name: 'BlueLake', task: 'a "quoted" task' } : { about: 'bd-1' }]) {
        const { messages } = await client.getPrompt({ name, arguments: given })
        const text = messages.map(({ content }) => (content.type === 'text' ? content.text : '')).join('')
        expect(text).not.toMatch(/human_key|project_key|agent_name|sender_name|BlueLake/)
        const calls = [...text.matchAll(/\b(\w+)\(\{(.*?)\}\)/g)]
        expect(calls.length).toBeGreaterThan(0)
        for (const [, tool = '', args = ''] of calls)
          for (const argument of args === '' ? [] : args.split(', '))
            expect(shown).toContain(`${tool}.${argument.replace(/:.*/, '')}`)
      }
  })
})
