/** Roles: what a token may do at every door, by its role, its scope and the settings. */
import { describe, expect, test } from 'vitest'
import { readClaims } from '../../src/doors/http/sign-in/claims.ts'
import { signShared } from '../support/authority.ts'
import { printedBy } from '../support/cli.ts'
import { callTool, mailbox, serveHere, share } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { type Answer, ask } from '../support/wire.ts'

const secret = 'a secret of more than thirty-two bytes'
const env = { HTTP_JWT_ENABLED: 'true', HTTP_JWT_SECRET: secret }
const parley = share((later) => serveHere({ env, later }))
const bearer = async (claims: Record<string, unknown>) => ({
  Authorization: `Bearer ${await signShared(secret, claims)}`,
})
const reader = () => bearer({ sub: 'r', role: 'reader' })
const writer = () => bearer({ sub: 'w', role: 'writer' })

interface Called {
  readonly status: number
  readonly code: unknown
}

/** A call as a plain client makes it, and what came of it. */
async function call(path: string, headers: object, body: object, to = parley()): Promise<Called> {
  const answer = await ask(to, {
    method: 'POST',
    path,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: answer.status, code: codeOf(answer) }
}

const codeOf = ({ text }: Answer): unknown => {
  const { error, result } = JSON.parse(text)
  return error?.data?.code ?? error?.code ?? result?.structuredContent?.error?.code
}

const tool = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
})

const project_key = 'commons'
const refused = { status: 403, code: 'FORBIDDEN' }

describe('A reader', () => {
  const writing: [path: string, body: object][] = [
    ['/agents/alice/mcp', tool('check_mail')],
    ['/agents/alice/mcp', tool('send_to_agent', { name: 'bob', msg: 'x' })],
    ['/agents/alice/mcp', { tool: 'send_to_agent', args: { name: 'bob', msg: 'x' } }],
    ['/mcp', tool('ensure_project', { human_key: '/srv/new' })],
    ['/mcp', tool('register_agent', { project_key, name: 'GreenCastle' })],
    ['/mcp', tool('mark_message_read', { project_key, agent_name: 'alice', message_id: 1 })],
    ['/bus/mcp?agent=alice', tool('topic_create', { name: 't' })],
    ['/bus/mcp?agent=alice', tool('sync', { topic_id: 't' })],
  ]
  for (const [path, body] of writing)
    verifies('all.roles.tools', `is refused ${JSON.stringify(body)} at ${path}`, async () => {
      expect(await call(path, await reader(), body)).toEqual(refused)
    })

  verifies('all.roles.tools', 'calls what changes nothing, and reads resources', async () => {
    await mailbox(parley(), 'alice').send('bob', 'hello')
    const headers = await reader()
    const read = async (uri: string) =>
      call('/mcp', headers, { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } })
    expect(await call('/mcp', headers, tool('health_check'))).toEqual({ status: 200, code: undefined })
    expect(await call('/bus/mcp', headers, tool('topic_list'))).toEqual({ status: 200, code: undefined })
    expect(await call('/mcp', headers, tool('fetch_inbox', { project_key, agent_name: 'bob' }))).toEqual({
      status: 200,
      code: undefined,
    })
    expect(await read('resource://inbox/bob?project=commons')).toEqual({ status: 200, code: undefined })
    expect(await read('resource://tooling/locks')).toEqual({ status: 200, code: undefined })
    expect(await call('/mcp', headers, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).toMatchObject({ status: 200 })
  })

  verifies('all.roles.tools', 'is told so in a batch, for each message that writes', async () => {
    const batch = [
      { ...tool('check_mail'), id: 1 },
      { jsonrpc: '2.0', id: 2, method: 'ping' },
    ]
    const headers = { 'Content-Type': 'application/json', ...(await reader()) }
    const post = (body: object) =>
      ask(parley(), { method: 'POST', path: '/agents/alice/mcp', headers, body: JSON.stringify(body) })
    const answer = await post(batch)
    expect(answer.status).toBe(200)
    const answers = JSON.parse(answer.text) as { id: number }[]
    expect(answers.sort((a, b) => a.id - b.id)).toMatchObject([
      { id: 1, error: { code: -32003, data: { code: 'FORBIDDEN' } } },
      { id: 2, result: {} },
    ])
    expect((await post([tool('check_mail')])).status).toBe(403)
  })

  verifies('all.roles.tools', 'ends its own session', async () => {
    const headers = await reader()
    const { openSession } = await import('../support/wire.ts')
    const endpoint = `${parley().url}/mcp`
    const session = await openSession(endpoint, headers)
    expect(
      (await fetch(endpoint, { method: 'DELETE', headers: { ...headers, 'Mcp-Session-Id': session } })).status,
    ).toBe(200)
  })

  verifies('all.roles.keyless', 'reads for agents that hold no key, and for no others', async () => {
    await mailbox(parley(), 'alice').send('keyed', 'private')
    await printedBy(parley(), ['keys', 'create', 'keyed', '--json'])
    const inbox = tool('fetch_inbox', { project_key, agent_name: 'keyed' })
    await expect.poll(async () => (await call('/mcp', await reader(), inbox)).code, { timeout: 5000 }).toBe('FORBIDDEN')
    expect((await call('/mcp', await writer(), inbox)).code).toBe('FORBIDDEN')
    expect((await call('/agents/keyed/mcp', await writer(), tool('check_mail'))).code).toBe('FORBIDDEN')
    expect(await mailbox(parley(), 'written', { headers: await writer() }).send('bob', 'hello')).toBeDefined()
  })

  verifies('all.roles.scope', 'is whoever has a scope without parley:write, whatever the role', async () => {
    for (const scope of ['parley:read', 'openid profile', '', ['parley:read'], 'parley:writer']) {
      const headers = await bearer({ sub: 'w', role: 'writer', scope })
      expect(await call('/agents/alice/mcp', headers, tool('check_mail')), String(scope)).toEqual(refused)
    }
    const scope = 'openid parley:write'
    expect((await call('/agents/alice/mcp', await bearer({ role: 'writer', scope }), tool('check_mail'))).status).toBe(
      200,
    )
    expect(await call('/agents/alice/mcp', await bearer({ role: 'reader', scope }), tool('check_mail'))).toEqual(
      refused,
    )
  })

  verifies('all.roles.routes', 'who is an agent reads its mail over REST, and sends none', async () => {
    const as = (role: string) => bearer({ agent: 'Rosa', role })
    const claim = async (role: string) =>
      ask(parley(), {
        method: 'POST',
        path: '/messages/1/claim',
        headers: { ...(await as(role)), 'Content-Length': '0' },
      })
    const inbox = async (role: string) => ask(parley(), { path: '/inbox', headers: await as(role) })
    expect((await inbox('reader')).status).toBe(404)
    const refusal = await claim('reader')
    expect([refusal.status, JSON.parse(refusal.text)]).toMatchObject([403, { code: 'FORBIDDEN' }])
    expect((await claim('writer')).status).toBe(422)
    expect((await inbox('reader')).status).toBe(200)
    expect((await ask(parley(), { path: '/inbox', headers: await reader() })).status).toBe(403)
  })

  verifies('all.roles.remote', 'and a writer reach no file of the server', async () => {
    const headers = await writer()
    const send = { project_key, sender_name: 'written', to: ['bob'], subject: 's', body_md: 'b' }
    const attached = await callTool(
      `${parley().url}/mcp`,
      'send_message',
      { ...send, attachment_paths: ['x.png'] },
      { headers },
    )
    expect(attached.structuredContent).toMatchObject({ error: { code: 'FORBIDDEN' } })
    const guard = { project_key, code_repo_path: '/srv/repository' }
    expect((await call('/mcp', headers, tool('install_precommit_guard', guard))).code).toBe('FORBIDDEN')
  })
})

describe('HTTP_RBAC_READONLY_TOOLS', () => {
  const listed = share((later) =>
    serveHere({ env: { ...env, HTTP_RBAC_READONLY_TOOLS: 'fetch_inbox, mark_message_read' }, later }),
  )

  verifies('all.roles.refused-tool', 'is named to a reader who is refused a tool', async () => {
    const answer = await fetch(`${listed().url}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(await reader()) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'health_check' } }),
    })
    expect(await answer.json()).toMatchObject({
      error: { message: expect.stringMatching(/may not call health_check\..*HTTP_RBAC_READONLY_TOOLS/) },
    })
  })

  verifies('all.roles.listed', 'is the list of tools that readers may call, at every door', async () => {
    await mailbox(listed(), 'alice').send('bob', 'hello')
    const headers = await reader()
    const inbox = await callTool(`${listed().url}/mcp`, 'fetch_inbox', { project_key, agent_name: 'bob' }, { headers })
    const [{ id }] = (inbox.structuredContent as { result: [{ id: number }] }).result
    const marked = { project_key, agent_name: 'bob', message_id: id }
    const { structuredContent } = await callTool(`${listed().url}/mcp`, 'mark_message_read', marked, { headers })
    expect(structuredContent).toMatchObject({ read: true })
    expect(await call('/mcp', headers, tool('health_check'), listed())).toEqual(refused)
    expect(await call('/bus/mcp', headers, tool('ping'), listed())).toEqual(refused)
    expect((await call('/mcp', await writer(), tool('health_check'), listed())).status).toBe(200)
  })
})

describe('An auditor', () => {
  const settings = { HTTP_RBAC_AUDITOR_ROLES: 'auditor', HTTP_RBAC_READONLY_TOOLS: 'mark_message_read' }
  const audited = share((later) => serveHere({ env: { ...env, ...settings }, later }))
  const auditor = (more: object = {}) => bearer({ sub: 'a', role: ['writer', 'auditor'], ...more })

  verifies('all.roles.auditor', 'reads the mail of all agents, with its blind copies, and writes nothing', async () => {
    const as = (name: string) => bearer({ agent: `${name}@commons`, role: 'writer' })
    const sent = { project_key, sender_name: 'Ann', to: ['Bob'], bcc: ['Cid'], subject: 'plan', body_md: 'the plan' }
    for (const name of ['Ann', 'Bob', 'Cid']) {
      const profile = { project_key, name, program: 'x', model: 'y' }
      await callTool(`${audited().url}/mcp`, 'register_agent', profile, { headers: await as(name) })
      await callTool(
        `${audited().url}/mcp`,
        'set_contact_policy',
        { project_key, agent_name: name, policy: 'open' },
        { headers: await as(name) },
      )
    }
    await callTool(`${audited().url}/mcp`, 'send_message', sent, { headers: await as('Ann') })
    const mine = { project_key, agent_name: 'Cid' }
    for (const more of [{}, { agent: 'Dan@commons' }]) {
      const headers = await auditor(more)
      const inbox = await callTool(`${audited().url}/mcp`, 'fetch_inbox', mine, { headers })
      const [mail] = (inbox.structuredContent as { result: [{ id: number; subject: string }] }).result
      expect(mail.subject).toBe('plan')
      const page = await fetch(`${audited().url}/mail/commons/message/${mail.id}?format=json`, { headers })
      expect(await page.json()).toMatchObject({ subject: 'plan', bcc: ['Cid'] })
      for (const name of ['send_message', 'mark_message_read', 'create_agent_identity'])
        expect(await call('/mcp', headers, tool(name, { ...mine, message_id: mail.id }), audited())).toEqual(refused)
      expect(await call('/agents/Cid/mcp', headers, tool('check_mail'), audited())).toEqual(refused)
      expect((await call('/agents', headers, {}, audited())).status).toBeGreaterThanOrEqual(400)
    }
  })
})

describe('The role of a token', () => {
  const roles = {
    enabled: true,
    claim: 'role',
    readers: ['reader', 'ro'],
    writers: ['writer', 'rw'],
    auditors: ['auditor'],
    fallback: 'reader',
    scopes: true,
  }
  const rows: [claims: object, settings: object, writes: boolean][] = [
    [{}, {}, false],
    [{}, { fallback: 'writer' }, true],
    [{}, { fallback: 'nobody' }, false],
    [{ role: 'writer' }, {}, true],
    [{ role: 'reader' }, { fallback: 'writer' }, false],
    [{ role: ['reader', 'rw'] }, {}, true],
    [{ role: ['ro'] }, { fallback: 'writer' }, false],
    [{ role: 'admin' }, { fallback: 'writer' }, false],
    [{ role: 'Writer' }, {}, false],
    [{ role: [] }, { fallback: 'writer' }, true],
    [{ role: { writer: true } }, {}, false],
    [{ groups: 'writer' }, { claim: 'groups' }, true],
    [{ role: 'writer' }, { claim: 'groups' }, false],
    [{ scope: 'parley:write' }, {}, true],
    [{ scope: 'parley:read parley:write' }, {}, true],
    [{ scp: ['parley:write'] }, {}, true],
    [{ scope: 'parley:write' }, { scopes: false }, false],
    [{ scope: 'parley:read' }, { fallback: 'writer' }, false],
    [{ scope: 'parley:read', role: 'writer' }, {}, false],
    [{ scope: 'parley:write', role: 'reader' }, {}, false],
    [{}, { enabled: false }, true],
    [{ role: 'reader' }, { enabled: false }, true],
    [{ scope: 'openid' }, { enabled: false }, false],
  ]
  for (const [claims, settings, writes] of rows)
    verifies('all.roles.order', `${JSON.stringify(claims)} with ${JSON.stringify(settings)}: ${writes}`, () => {
      expect(readClaims({ ...claims }, { ...roles, ...settings }).mayWrite).toBe(writes)
    })

  const seeing: [claims: object, settings: object, auditor: boolean][] = [
    [{ role: 'auditor' }, {}, true],
    [{ role: ['writer', 'auditor'], scope: 'parley:write' }, {}, true],
    [{ role: ['auditor', 'reader'], agent: 'GreenCastle' }, {}, true],
    [{ role: 'writer' }, {}, false],
    [{}, { fallback: 'auditor' }, false],
    [{ role: 'auditor' }, { auditors: [] }, false],
    [{ role: 'auditor' }, { enabled: false }, false],
  ]
  for (const [claims, settings, auditor] of seeing)
    verifies('all.roles.auditor', `${JSON.stringify(claims)} with ${JSON.stringify(settings)}: ${auditor}`, () => {
      expect(readClaims({ ...claims }, { ...roles, ...settings }).auditor).toBe(auditor)
    })

  test('is not asked for with HTTP_RBAC_ENABLED=false', async () => {
    const open = await serveHere({ env: { ...env, HTTP_RBAC_ENABLED: 'false' } })
    expect((await call('/agents/alice/mcp', await reader(), tool('check_mail'), open)).status).toBe(200)
  })
})
