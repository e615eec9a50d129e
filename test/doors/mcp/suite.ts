/** The abilities of the official client, the same over every wire and in both eras; one suite for all of them. */
import type { Client } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { verifies } from '../../support/verifies.ts'
import { image } from './talking.ts'
import type { EraName } from './use.ts'

/** `connect` gives a client whose world no other test has left a trace in. */
export function clientSuite(era: EraName, connect: () => Promise<Client>): void {
  const steer = (client: Client, act: string, at?: string) => client.callTool({ name: 'steer', arguments: { act, at } })

  test('a client learns who serves it and what it can do', async () => {
    const client = await connect()
    expect(client.getServerVersion()).toEqual({ name: 'parley-fixture', title: 'Fixture', version: '1.2.3' })
    expect(client.getInstructions()).toBe('A door for tests.')
    expect(client.getServerCapabilities()).toMatchObject({ tools: {}, resources: { subscribe: true }, prompts: {} })
  })

  test('the lists of tools, resources, templates and prompts are served', async () => {
    const client = await connect()
    const { tools } = await client.listTools()
    const echo = tools.find((tool) => tool.name === 'echo')
    expect(echo).toMatchObject({
      inputSchema: { type: 'object', required: ['text'], additionalProperties: false },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      _meta: { 'anthropic/alwaysLoad': true },
    })
    expect((await client.listResources()).resources).toMatchObject([{ uri: 'test://static' }])
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'test://inbox/{agent}{?project,limit}' },
    ])
    expect((await client.listPrompts()).prompts).toEqual([
      {
        name: 'welcome',
        title: 'Welcome',
        description: 'Welcomes somebody.',
        arguments: [{ name: 'who', description: 'Whom.', required: true }],
      },
    ])
  })

  test('a result comes as structured content and as the same text', async () => {
    const client = await connect()
    await client.listTools() // from here on the client checks results against the output schema
    const result = await client.callTool({ name: 'echo', arguments: { text: 'Grüß "Gott" 👋\n', times: 2 } })
    expect(result.structuredContent).toEqual({
      text: 'Grüß "Gott" 👋\nGrüß "Gott" 👋\n',
      agent: 'alice',
      client: 'tester 4.5.6',
    })
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(result.structuredContent) }])
    expect(result.isError).toBeFalsy()
  })

  test('a value that is not always an object is wrapped, null too', async () => {
    const client = await connect()
    await client.listTools()
    expect((await client.callTool({ name: 'maybe' })).structuredContent).toEqual({ result: null })
    expect((await client.callTool({ name: 'maybe', arguments: { count: 2 } })).structuredContent).toEqual({
      result: [0, 1],
    })
  })

  test('a tool without an output schema answers text only', async () => {
    const client = await connect()
    const result = await client.callTool({ name: 'text' })
    expect(result.content).toEqual([{ type: 'text', text: 'one\ntwo' }])
    expect(result.structuredContent).toBeUndefined()
  })

  verifies('all.contents.kinds', 'a tool may answer contents of other kinds than text', async () => {
    const client = await connect()
    const { content, structuredContent } = await client.callTool({ name: 'picture' })
    expect(content).toEqual([image, { type: 'text', text: 'a picture' }])
    expect(structuredContent).toBeUndefined()
  })

  verifies('all.prompts.got', 'a prompt is got by its name, with its arguments', async () => {
    const client = await connect()
    expect((await client.getPrompt({ name: 'welcome', arguments: { who: 'bob' } })).messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Welcome bob, says alice.' } },
      { role: 'assistant', content: image },
    ])
    await expect(client.getPrompt({ name: 'welcome' })).rejects.toMatchObject({ code: -32602 })
    await expect(client.getPrompt({ name: 'nope' })).rejects.toMatchObject({ code: -32602 })
  })

  verifies('all.dialogue.asks', 'a tool asks its client, one question after the other', async () => {
    const client = await connect()
    const asked: unknown[] = []
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { name: 'Ada' } }
    })
    client.setRequestHandler('sampling/createMessage', async ({ params }) => {
      asked.push(params.messages[0]?.content)
      return { role: 'assistant', model: 'test', content: { type: 'text', text: 'Hello, Ada!' } }
    })
    const { structuredContent } = await client.callTool({ name: 'survey' })
    expect(structuredContent).toMatchObject({ name: 'Ada', greeting: { type: 'text', text: 'Hello, Ada!' } })
    expect(asked).toEqual(['What is your name?', { type: 'text', text: 'Greet Ada.' }])
  })

  test('what a tool refuses is a result the model can read', async () => {
    const client = await connect()
    await client.listTools()
    const error = { code: 'MAILBOX_FULL', message: 'The mailbox of bob is full.', hint: 'Wait until bob has read.' }
    const result = await client.callTool({ name: 'fail' })
    expect(result).toMatchObject({ isError: true, structuredContent: { error } })
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify({ error }) }])
  })

  test('an unexpected failure shows nothing of its cause', async () => {
    const client = await connect()
    const result = await client.callTool({ name: 'crash' })
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'INTERNAL' } } })
    expect(JSON.stringify(result)).not.toContain('secret detail')
  })

  test('bad arguments are a tool error in our own words', async () => {
    const client = await connect()
    const result = await client.callTool({ name: 'echo', arguments: { times: 9, volume: 11 } })
    expect(result).toMatchObject({
      isError: true,
      structuredContent: {
        error: {
          code: 'INVALID_ARGUMENT',
          message:
            'Argument "text" is missing; it must be a string. Argument "times" must be at most 3; got 9. There is no argument "volume".',
          hint: 'echo takes text (string): What to say. echo takes times (integer, optional): How often.',
        },
      },
    })
  })

  test('an unknown tool is an error of the protocol', async () => {
    const client = await connect()
    await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32602 })
  })

  test('a tool name that no header can carry arrives whole', async () => {
    const client = await connect()
    await expect(client.callTool({ name: 'äöü 名前' })).rejects.toThrow('There is no tool "äöü 名前" here')
  })

  test('a resource is read by its URI and by its template', async () => {
    const client = await connect()
    const read = async (uri: string) => {
      const [content] = (await client.readResource({ uri })).contents
      return content && 'text' in content ? JSON.parse(content.text) : undefined
    }
    expect(await read('test://static')).toEqual({ always: 'the same' })
    expect(await read('test://inbox/bob?limit=5')).toEqual({ agent: 'bob', limit: '5', reader: 'alice' })
    expect(await read('test://inbox/b%C3%B6b')).toMatchObject({ agent: 'böb' })
  })

  test('a resource that is not there is not found, whoever finds that out', async () => {
    const client = await connect()
    await expect(client.readResource({ uri: 'test://nothing' })).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource({ uri: 'test://inbox/nobody' })).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource({ uri: 'test://inbox/crash' })).rejects.toMatchObject({ code: -32603 })
  })

  test('progress arrives while a call waits, and then its result', async () => {
    const client = await connect()
    const seen: number[] = []
    const twice = Promise.withResolvers<void>()
    const waiting = client.callTool(
      { name: 'wait' },
      {
        onprogress: ({ progress }) => {
          seen.push(progress)
          if (seen.length === 2) twice.resolve()
        },
      },
    )
    await twice.promise
    await steer(client, 'release')
    const result = await waiting
    expect(result.structuredContent).toEqual({ ended: 'released' })
    expect(seen[0]).toBeGreaterThan(0)
    expect(seen[1]).toBeGreaterThan(seen[0] ?? 0)
  })

  test('a cancelled call is told so and answered with nothing', async () => {
    const client = await connect()
    const cancel = new AbortController()
    const waiting = client.callTool({ name: 'wait' }, { signal: cancel.signal })
    await steer(client, 'waiting')
    cancel.abort()
    await expect(waiting).rejects.toThrow()
    expect((await steer(client, 'ended')).structuredContent).toEqual({ ends: ['lost'] })
  })

  test('a call that already sent progress can be cancelled too', async () => {
    const client = await connect()
    const cancel = new AbortController()
    const waiting = client.callTool({ name: 'wait' }, { signal: cancel.signal, onprogress: () => cancel.abort() })
    await expect(waiting).rejects.toThrow()
    expect((await steer(client, 'ended')).structuredContent).toEqual({ ends: ['lost'] })
  })

  test('a hundred calls at once get their own answers', async () => {
    const client = await connect()
    const texts = Array.from({ length: 100 }, (_, index) => `number ${index}`)
    const results = await Promise.all(texts.map((text) => client.callTool({ name: 'echo', arguments: { text } })))
    expect(results.map((result) => (result.structuredContent as { text: string }).text)).toEqual(texts)
  })

  test('a client that watches a resource is told when it changes, and only then', async () => {
    const client = await connect()
    const seen: string[] = []
    const told = new Promise<void>((resolve) =>
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        seen.push(params.uri)
        if (params.uri === 'test://last') resolve()
      }),
    )
    const uris = ['test://watched', 'test://last']
    const end = era === '2026-07-28' ? await listen(client, uris) : await subscribe(client, uris)
    await steer(client, 'touch', 'test://other')
    await steer(client, 'touch', 'test://watched')
    await steer(client, 'touch', 'test://last')
    await told
    expect(seen).toEqual(['test://watched', 'test://last'])
    await end()
  })

  test.runIf(era === '2025-11-25')('ping and log levels are answered', async () => {
    const client = await connect()
    expect(await client.ping()).toEqual({})
    expect(await client.setLoggingLevel('debug')).toEqual({})
  })

  test('completion is not offered', async () => {
    const client = await connect()
    const ref = { type: 'ref/resource' as const, uri: 'test://inbox/{agent}' }
    await expect(client.complete({ ref, argument: { name: 'agent', value: 'b' } })).rejects.toThrow()
  })
}

async function listen(client: Client, uris: string[]): Promise<() => Promise<void>> {
  const subscription = await client.listen({ resourceSubscriptions: uris, toolsListChanged: true })
  expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: uris })
  return () => subscription.close()
}

async function subscribe(client: Client, uris: string[]): Promise<() => Promise<void>> {
  for (const uri of uris) await client.subscribeResource({ uri })
  return async () => {
    for (const uri of uris) await client.unsubscribeResource({ uri })
  }
}
