/** A door's use of the engine: it offers some of its tools to some, and its errors name its own calls. */
import { expect, test } from 'vitest'
import { HubError } from '../../../src/base/errors.ts'
import { hintOf, type Offer } from '../../../src/doors/mcp/table.ts'
import { verifies } from '../../support/verifies.ts'
import { fixtureDoor, type World } from './door.ts'
import { call, connect, eras, http, rpc, useFixture } from './use.ts'

const few: Offer = { tools: new Set(['echo', 'text']), instructions: 'Echo.', more: 'Go to /agents/alice/mcp for all.' }

/** Bob is offered less than the others. */
const doorOf = (world: World) => {
  const door = fixtureDoor(world)
  return {
    ...door,
    offer: ({ agent }: { agent: string }) => (agent === 'bob' ? few : undefined),
    hints: {
      MAILBOX_FULL: 'Call pop.',
      MESSAGE_NOT_FOUND: ({ message, hint }: HubError) => `${message} ${hint} Call echo.`,
    },
    resources: [
      ...door.resources,
      {
        uri: 'test://refused/{code}',
        name: 'refused',
        description: 'Refuses.',
        read: async ({ code }: Readonly<Record<string, string>>) => {
          throw new HubError(code as 'MAILBOX_FULL', 'Refused.', { hint: 'As core says it.' })
        },
      },
      ...['test://shared/{id}{?one,two}', 'test://shared/{name}{?three}'].map((uri) => ({
        uri,
        name: uri,
        description: 'One of two with the same path.',
        read: async (params: Readonly<Record<string, string>>) => params,
      })),
    ],
  }
}

const useDoor = async () => {
  const { url } = await useFixture({ door: doorOf })
  return { all: url, some: url.replace('alice', 'bob') }
}

for (const era of eras)
  test(`a scope is offered its part of the tools, and no other, in ${era}`, async () => {
    const { all, some } = await useDoor()
    const { client } = await connect(some, era)
    const { client: other } = await connect(all, era)
    expect([client.getInstructions(), other.getInstructions()]).toEqual(['Echo.', 'A door for tests.'])
    const names = async (of: typeof client) => (await of.listTools()).tools.map(({ name }) => name)
    for (let round = 0; round < 2; round++) {
      expect(await names(client)).toEqual(['echo', 'text'])
      expect((await names(other)).length).toBeGreaterThan(5)
    }
    expect(await client.callTool({ name: 'text' })).toMatchObject({ content: [{ text: 'one\ntwo' }] })
    await expect(client.callTool({ name: 'maybe' })).rejects.toThrow(
      'The tool "maybe" is not offered here. Go to /agents/alice/mcp for all.',
    )
    await expect(client.callTool({ name: 'nope' })).rejects.toThrow('There is no tool "nope" here. Tools: echo, text.')
    expect(await other.callTool({ name: 'maybe' })).toMatchObject({ structuredContent: { result: null } })
  })

test('the short form offers the same, and says so', async () => {
  const { all, some } = await useDoor()
  const body = { tool: 'maybe' }
  expect(await http(all, { body })).toMatchObject({ status: 200, json: null })
  expect(await http(some, { body })).toMatchObject({
    status: 400,
    json: {
      error: {
        code: 'INVALID_ARGUMENT',
        message: 'The tool "maybe" is not offered here.',
        hint: 'Go to /agents/alice/mcp for all.',
      },
    },
  })
  for (const tool of [undefined, null, 5, {}, 'toString', 'x'.repeat(10_000)]) {
    const { status, text } = await http(some, { body: { tool: tool ?? null } })
    expect(status).toBe(400)
    expect(text.length).toBeLessThan(400)
  }
})

verifies(
  'mail.hints.own',
  "A door's hints stand in for those of core, in results, resources and the short form",
  async () => {
    const { all } = await useDoor()
    const full = { code: 'MAILBOX_FULL', message: 'The mailbox of bob is full.', hint: 'Call pop.' }
    expect((await http(all, { body: call('fail') })).json.result.structuredContent).toEqual({ error: full })
    expect(await http(all, { body: { tool: 'fail' } })).toMatchObject({ status: 429, json: { error: full } })
    const read = async (uri: string) => (await http(all, { body: rpc('resources/read', { uri }) })).json.error
    expect(await read('test://refused/MAILBOX_FULL')).toMatchObject({
      data: { code: 'MAILBOX_FULL', hint: 'Call pop.' },
    })
    expect(await read('test://refused/TOPIC_CLOSED')).toMatchObject({ data: { hint: 'As core says it.' } })
  },
)

test('A reason has a hint of its own, and without one that of its code', () => {
  const reach = { offers: () => true, takes: () => true }
  const hints = { CONTACT_REQUIRED: 'By code.', contact_first: 'By reason.' }
  const error = (reason?: 'contact_first' | 'contact_only') =>
    new HubError('CONTACT_REQUIRED', 'Refused.', { hint: 'As core says it.', reason })
  expect([error('contact_first'), error('contact_only'), error()].map((one) => hintOf(hints, one, reach))).toEqual([
    'By reason.',
    'By code.',
    'By code.',
  ])
  expect(hintOf({ contact_only: 'Other.' }, error(), reach)).toBe('As core says it.')
})

for (const era of eras)
  verifies('mail.resource.parameters', `Resources with one path are told apart by parameters in ${era}`, async () => {
    const { all } = await useDoor()
    const { client } = await connect(all, era)
    const read = async (uri: string) => {
      const [content] = (await client.readResource({ uri })).contents
      return JSON.parse((content as { text: string }).text)
    }
    expect(await read('test://shared/7?two=2')).toEqual({ id: '7', two: '2' })
    expect(await read('test://shared/7?three=3')).toEqual({ name: '7', three: '3' })
    for (const [uri, unknown] of [
      ['test://shared/7?four=4', 'four'],
      ['test://shared/7?one=1&three=3', 'three'],
      ['test://shared/7?id=1', 'id'],
    ] as const)
      await expect(read(uri), uri).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining(`has no parameter "${unknown}"`),
        data: { code: 'INVALID_ARGUMENT', hint: 'Parameters of this resource: one, two.' },
      })
  })

verifies(
  ['mail.resources.errors', 'mail.hints.message'],
  'An error of a resource has code and hint, and the URI of what is missing',
  async () => {
    const { all } = await useDoor()
    const read = async (uri: string) => (await http(all, { body: rpc('resources/read', { uri }) })).json.error
    expect(await read('test://refused/MESSAGE_NOT_FOUND')).toEqual({
      code: -32602,
      message: 'Refused. Refused. As core says it. Call echo.',
      data: {
        uri: 'test://refused/MESSAGE_NOT_FOUND',
        code: 'MESSAGE_NOT_FOUND',
        hint: 'Refused. As core says it. Call echo.',
      },
    })
    expect(await read('test://refused/INVALID_ARGUMENT')).toEqual({
      code: -32602,
      message: 'Refused. As core says it.',
      data: { code: 'INVALID_ARGUMENT', hint: 'As core says it.' },
    })
    // By the URI alone the SDK's clients tell that there is no such resource.
    expect(await read('test://nothing')).toMatchObject({ code: -32602, data: { uri: 'test://nothing' } })
    expect(Object.keys((await read('test://nothing')).data)).toEqual(['uri'])
  },
)
