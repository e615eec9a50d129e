/** The mailbox door on the wire: what is refused and how, in the protocol and in the short form. */
import { describe, expect } from 'vitest'
import { callTool, mailbox, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()
const endpoint = (agent = 'alice') => `${parley().url}/agents/${agent}/mcp`

const post = (body: string, headers: Record<string, string> = { 'Content-Type': 'application/json' }, agent?: string) =>
  fetch(endpoint(agent), { method: 'POST', headers, body })

const short = async (agent: string, tool: string, args: unknown) => {
  const response = await fetch(`${endpoint(agent)}/`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ tool, args }),
  })
  return { status: response.status, body: (await response.json()) as unknown }
}

describe('The short form', () => {
  verifies(
    ['mailbox.done.smoke', 'all.short-form.value', 'serve.paths.slash'],
    'the two curl lines of the smoke test return the ping',
    async () => {
      const sent = await short('smoke-alice', 'send_to_agent', { name: 'smoke-bob', msg: 'ping' })
      expect(sent).toEqual({ status: 200, body: expect.any(String) })
      expect(await short('smoke-bob', 'check_mail', {})).toEqual({
        status: 200,
        body: { id: sent.body, from: 'smoke-alice', content: 'ping', created: expect.any(String) },
      })
      expect(await short('smoke-bob', 'check_mail', {})).toEqual({ status: 200, body: null })
    },
  )

  verifies(
    'all.short-form.error',
    'an error has its code, message, hint, and the HTTP status of its kind',
    async () => {
      const error = (code: string) => ({ error: { code, message: expect.any(String), hint: expect.any(String) } })
      expect(await short('alice', 'send_to_agent', { name: '' })).toEqual({
        status: 400,
        body: error('INVALID_ARGUMENT'),
      })
      expect(await short('alice', 'ack_mail', { id: 'x', lease: 'y' })).toEqual({
        status: 404,
        body: error('MESSAGE_NOT_FOUND'),
      })
      expect(await short('not.a.name', 'check_mail', {})).toEqual({ status: 400, body: error('INVALID_ARGUMENT') })
      const unknown = await short('alice', 'launch_rocket', {})
      expect(unknown.status).toBeGreaterThanOrEqual(400)
      expect(unknown.body).toMatchObject({ error: { hint: expect.stringContaining('send_to_agent') } })
    },
  )
})

describe('Arguments', () => {
  const wrong: [string, string, Record<string, unknown>, RegExp][] = [
    ['a missing message', 'send_to_agent', { name: 'bob' }, /msg/],
    ['a missing name', 'send_to_agent', { msg: 'x' }, /name/],
    ['a number for a text', 'send_to_agent', { name: 'bob', msg: 7 }, /msg/],
    ['an unknown argument', 'send_to_agent', { name: 'bob', msg: 'x', colour: 'red' }, /colour/],
    ['an empty name', 'send_to_agent', { name: '', msg: 'x' }, /name/],
    ['a name with a slash', 'send_to_agent', { name: 'a/b', msg: 'x' }, /name/],
    ['a name with a dot', 'send_to_agent', { name: '../etc', msg: 'x' }, /name/],
    ['a name that begins with a dash', 'send_to_agent', { name: '-bob', msg: 'x' }, /name/],
    ['a name that is too long', 'send_to_agent', { name: 'b'.repeat(101), msg: 'x' }, /name/],
    ['an empty message', 'send_to_agent', { name: 'bob', msg: '' }, /msg.*empty/],
    ['U+0000', 'send_to_agent', { name: 'bob', msg: 'a\0b' }, /U\+0000/],
    ['half a surrogate pair', 'send_to_agent', { name: 'bob', msg: 'a\ud800b' }, /surrogate/],
    ['an empty id', 'send_to_agent', { name: 'bob', msg: 'x', msg_id: '' }, /msg_id/],
    ['an id that is too long', 'send_to_agent', { name: 'bob', msg: 'x', msg_id: 'i'.repeat(129) }, /msg_id.*128/],
    ['an id with a line break', 'send_to_agent', { name: 'bob', msg: 'x', msg_id: 'a\nb' }, /msg_id/],
    ['a negative wait', 'check_mail', { wait_seconds: -1 }, /wait_seconds/],
    ['a wait that is no number', 'check_mail', { wait_seconds: 'long' }, /wait_seconds/],
    ['a negative lease', 'check_mail', { lease_seconds: -0.5 }, /lease_seconds/],
    ['a missing lease', 'ack_mail', { id: 'x' }, /lease/],
  ]
  verifies(
    [
      'all.arguments.tool-error',
      'all.arguments.unknown-name',
      'mailbox.send.name',
      'all.names.pattern',
      'all.size.text',
      'all.size.client-id',
    ],
    'that are wrong are a tool error in our own words, and change nothing',
    async () => {
      for (const [what, tool, args, says] of wrong) {
        const result = await callTool(endpoint(), tool, args)
        expect(result.isError, what).toBe(true)
        const { error } = result.structuredContent as { error: { code: string; message: string; hint: string } }
        expect(error.code, what).toBe('INVALID_ARGUMENT')
        expect(error.message, what).toMatch(says)
        expect(error.hint, what).toContain(tool)
        expect(`${error.message} ${error.hint}`, what).not.toMatch(/zod|expected string|invalid_type|Unrecognized/i)
        expect(result.content[0]?.text, what).toBe(JSON.stringify(result.structuredContent))
      }
      expect(await mailbox(parley(), 'bob').check()).toBeNull()
    },
  )

  verifies(['all.names.pattern', 'all.size.client-id'], 'at the limit of what is allowed are taken', async () => {
    const longest = `${'n'.repeat(99)}_`
    const id = '🦜'.repeat(128)
    expect(await mailbox(parley(), '0').send(longest, 'x', id)).toBe(id)
    expect(await mailbox(parley(), longest).check()).toMatchObject({ id, from: '0' })
  })

  verifies(
    'all.arguments.tool-error',
    'that are no object are a tool error too, and none at all are fine',
    async () => {
      for (const args of [[], '{}', 7]) {
        const result = await callTool(endpoint(), 'check_mail', args as never)
        expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'INVALID_ARGUMENT' } } })
      }
      expect((await callTool(endpoint(), 'check_mail', null as never)).structuredContent).toEqual({ result: null })
    },
  )

  verifies('all.arguments.unknown-name', 'by the name of __proto__ are unknown like any other', async () => {
    const response = await post(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_mail","arguments":{"__proto__":{"x":1}}}}',
    )
    expect(await response.json()).toMatchObject({
      result: { isError: true, structuredContent: { error: { code: 'INVALID_ARGUMENT' } } },
    })
  })

  verifies('all.schema.null', 'that are null count as absent', async () => {
    const sent = await callTool(endpoint(), 'send_to_agent', { name: 'null-bob', msg: 'x', msg_id: null })
    expect(sent.structuredContent).toMatchObject({ result: expect.stringMatching(/^[0-9a-f-]{36}$/) })
    const none = await callTool(endpoint(), 'check_mail', { wait_seconds: null, lease_seconds: null, after: null })
    expect(none.structuredContent).toEqual({ result: null })
  })
})

describe('Sizes', () => {
  verifies(
    'all.size.body',
    'a message of exactly 1 MiB passes, one more byte is an error and nothing is stored',
    async () => {
      const alice = mailbox(parley(), 'alice')
      const bob = mailbox(parley(), 'big-bob')
      const text = 'é'.repeat(512 * 1024)
      await alice.send('big-bob', text)
      await expect(alice.send('big-bob', `${text}!`)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining('1048577'),
      })
      expect((await bob.check())?.content).toBe(text)
      expect(await bob.check()).toBeNull()
    },
  )

  verifies('all.size.request', 'a request of more than 4 MiB is 413', async () => {
    const response = await post(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { _meta: { x: 'x'.repeat(4 * 1024 * 1024) } } }),
    )
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: expect.any(Number) } })
  })
})

describe('The protocol', () => {
  verifies(
    ['all.plain.json', 'all.result.twice', 'all.result.wrapped'],
    'a lone call without initialize, session or Accept is answered in plain JSON, text and structure alike',
    async () => {
      const response = await post(
        '{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"send_to_agent","arguments":{"name":"plain","msg":"x"}}}',
      )
      expect(response.headers.get('content-type')).toMatch(/^application\/json/)
      const { id, result } = (await response.json()) as {
        id: string
        result: { content: { text: string }[]; structuredContent: unknown }
      }
      expect(id).toBe('1')
      expect(result.structuredContent).toEqual({ result: expect.any(String), reach: expect.any(Object) })
      expect(result.content[0]?.text).toBe(JSON.stringify(result.structuredContent))
    },
  )

  verifies('all.rpc.malformed', 'malformed JSON is 400 with -32700, and the server lives on', async () => {
    for (const body of ['{', '', 'null}', '{"a":', '\u0000']) {
      const response = await post(body)
      expect(response.status, body).toBe(400)
      expect(await response.json(), body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } })
    }
    expect(await mailbox(parley(), 'still-there').check()).toBeNull()
  })

  verifies('all.rpc.unknown', 'an unknown tool or method is a JSON-RPC error', async () => {
    const code = async (method: string, params: unknown) => {
      const answer = (await (await post(JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }))).json()) as {
        id: number
        error: { code: number }
      }
      expect(answer.id).toBe(7)
      return answer.error.code
    }
    expect(await code('tools/call', { name: 'launch_rocket', arguments: {} })).toBe(-32602)
    expect(await code('tools/fly', {})).toBe(-32601)
    expect(await code('constructor', {})).toBe(-32601)
  })

  verifies('all.http.content-type', 'a wrong content type is 415', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const response = await post('{"jsonrpc":"2.0","id":1,"method":"ping"}', { 'Content-Type': type })
      expect(response.status, type).toBe(415)
    }
  })
})
