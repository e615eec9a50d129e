/** An agent gets a key while others use its name: from then on its mail is its owner's, at every door and in every process. */
import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { printedBy } from '../support/cli.ts'
import { newProject, plainMail } from '../support/mail.ts'
import { callTool, shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

interface Answer {
  readonly status: number
  readonly body: { result?: { structuredContent?: Record<string, unknown>; isError?: boolean }; error?: unknown }
}

async function call(path: string, headers: Record<string, string>, name: string, args: object = {}): Promise<Answer> {
  const response = await fetch(`${parley().url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

const forbidden = { error: { code: 'FORBIDDEN' } }

verifies(
  ['access.key.protects', 'access.key.credentials', 'access.key.hash'],
  'a key protects an agent at every door, though another process gave it',
  async () => {
    const project_key = newProject()
    const mail = plainMail(parley())
    for (const name of ['GreenCastle', 'BlueLake']) await mail.call('register_agent', { project_key, name })
    await mail.call('send_message', {
      project_key,
      sender_name: 'BlueLake',
      to: ['GreenCastle'],
      subject: 's',
      body_md: 'b',
    })
    const mailbox = `/agents/GreenCastle/mcp?project=${encodeURIComponent(project_key)}`
    const bus = `/bus/mcp?agent=GreenCastle&project=${encodeURIComponent(project_key)}`
    const topic = await callTool(`${parley().url}${bus}`, 'topic_create', { name: 'keys' })
    const { topic_id } = topic.structuredContent as { topic_id: string }
    await callTool(`${parley().url}${bus}`, 'topic_join', { agent_name: 'GreenCastle', topic_id })

    const { key } = JSON.parse(
      await printedBy(parley(), ['keys', 'create', 'greencastle', '--project', project_key, '--json']),
    )
    expect(key).toMatch(/^amb_[0-9a-f]{64}$/)

    const inbox = { project_key, agent_name: 'GreenCastle' }
    // The other process has read the agent a moment ago, and believes for a second that it has no key.
    await expect
      .poll(async () => (await call('/mcp', {}, 'fetch_inbox', inbox)).body.result?.structuredContent, {
        timeout: 5000,
      })
      .toMatchObject(forbidden)
    for (const headers of [{ Authorization: `Bearer ${key}` }, { 'X-API-Key': key }]) {
      const { result } = (await call('/mcp', headers, 'fetch_inbox', inbox)).body
      expect(result?.structuredContent).toMatchObject({ result: [{ from: 'BlueLake', subject: 's' }] })
      // The key took the name from whoever had joined under it.
      for (const [tool, args] of [
        ['topic_join', { agent_name: 'GreenCastle', topic_id }],
        ['sync', { topic_id, wait_seconds: 0 }],
      ] as const)
        expect((await call(bus, headers, tool, args)).body.result?.isError, tool).not.toBe(true)
      const other = await call('/mcp', headers, 'fetch_inbox', { project_key, agent_name: 'BlueLake' })
      expect(other.body.result?.structuredContent).toMatchObject(forbidden)
    }
    for (const [path, tool, args] of [
      [mailbox, 'check_mail', {}],
      [mailbox, 'send_to_agent', { name: 'BlueLake', msg: 'in its name' }],
      [bus, 'sync', { topic_id, wait_seconds: 0 }],
      [
        '/mcp',
        'send_message',
        { project_key, sender_name: 'GreenCastle', to: ['BlueLake'], subject: 's', body_md: 'b' },
      ],
    ] as const)
      expect((await call(path, {}, tool, args)).body.result?.structuredContent, tool).toMatchObject(forbidden)

    const { status } = await fetch(`${parley().url}/metrics`, { headers: { Authorization: `Bearer ${key}` } })
    expect(status).toBe(403)
    const wrong = { Authorization: `Bearer amb_${'0'.repeat(64)}` }
    expect((await call('/mcp', wrong, 'fetch_inbox', inbox)).status).toBe(401)

    const db = new DatabaseSync(`${parley().storage}/parley.sqlite3`, { readOnly: true })
    const hashes = db.prepare('SELECT hash FROM agent_keys').all()
    db.close()
    expect(hashes).toEqual([{ hash: createHash('sha256').update(key).digest('hex') }])
  },
)
