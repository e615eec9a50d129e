/** The schemas of tools, and the lint's complaints about doors that no client would take. */
import { fromJsonSchema } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { advertise } from '../../../src/doors/mcp/protocol/service.ts'
import { inputSchema, outputSchema } from '../../../src/doors/mcp/schema.ts'
import { type Door, defineTool, type Tool } from '../../../src/doors/mcp/table.ts'
import { lintDoor } from '../../support/door-lint.ts'
import { verifies } from '../../support/verifies.ts'
import { fixtureDoor, World } from './door.ts'

const tool = (parts: Partial<Tool<object>> = {}): Tool<object> => ({
  name: 'tool',
  title: 'Tool',
  description: 'A tool.',
  cluster: 'c',
  input: z.strictObject({}),
  effect: 'read',
  run: async () => undefined,
  ...parts,
})

const door = (...tools: Tool<object>[]): Door<object> => ({
  name: 'd',
  title: 'D',
  instructions: '',
  tools,
  resources: [],
})

test('the fixture door is one that any client takes', () => {
  expect(lintDoor(fixtureDoor(new World()))).toEqual([])
})

test('an input schema is flat and says nothing needless', () => {
  const input = z.strictObject({
    count: z.int().optional().describe('How many.'),
    mode: z.enum(['a', 'b']).default('a'),
  })
  expect(inputSchema({ input })).toEqual({
    type: 'object',
    properties: {
      count: { type: 'integer', description: 'How many.' },
      mode: { type: 'string', enum: ['a', 'b'], default: 'a' },
    },
    additionalProperties: false,
  })
})

test('an output schema has one type where zod writes two', () => {
  const output = z.object({ at: z.string().nullable().describe('When.') })
  expect(outputSchema({ input: z.strictObject({}), output })).toEqual({
    type: 'object',
    properties: { at: { description: 'When.', anyOf: [{ type: 'string' }, { type: 'null' }] } },
  })
})

test('an output schema holds what there is, and nothing that only a check would need', () => {
  const item = z.object({ type: z.string(), required: z.array(z.string()), more: z.record(z.string(), z.unknown()) })
  const output = z.array(item)
  const items = {
    type: 'object',
    properties: {
      type: { type: 'string' },
      required: { type: 'array', items: { type: 'string' } },
      more: { type: 'object', additionalProperties: true },
    },
  }
  expect(outputSchema({ input: z.strictObject({}), output, wrapped: true })).toEqual({
    type: 'object',
    properties: { result: { type: 'array', items } },
  })
})

verifies('all.schema.keywords', 'a field whose name Python keeps for itself does not cost FastMCP the result', () => {
  const mail = z.object({ id: z.string(), from: z.string() })
  const schema = { type: 'object', properties: { id: { type: 'string' }, from: { type: 'string' } } }
  const input = z.strictObject({})
  expect(outputSchema({ input, output: mail })).toEqual({ ...schema, additionalProperties: true })
  expect(outputSchema({ input, output: mail.nullable(), wrapped: true })).toEqual({
    type: 'object',
    properties: { result: { anyOf: [{ ...schema, additionalProperties: true }, { type: 'null' }] } },
  })
  expect(outputSchema({ input, output: z.object({ sender: z.string() }) })).not.toHaveProperty('additionalProperties')
})

verifies('all.schema.keywords', 'fields that a schema does not name come through FastMCP too', () => {
  const output = z.looseObject({ name: z.string() })
  const schema = { type: 'object', properties: { name: { type: 'string' } }, additionalProperties: true }
  expect(outputSchema({ input: z.strictObject({}), output })).toEqual(schema)
  // It makes an empty class of an object without fields, and takes what has no type as it is.
  const nested = advertise(tool({ output: z.object({ agent: output }) }), true)
  expect(nested).toMatchObject({ outputSchema: { properties: { agent: {} } } })
  expect(JSON.stringify(nested)).toContain('"agent":{}')
})

test('a door that is terse advertises no bounds of texts, and results one level deep', () => {
  const many = z.array(z.object({ name: z.string() }))
  const input = z.strictObject({
    key: z.string().regex(/^x/).max(9),
    list: many.min(1).max(5).describe('Some.'),
    n_th: z.int().min(3).max(8).default(4),
  })
  const output = z.object({ many, at: z.string().nullable(), kind: z.enum(['a']), deep: z.object({ n: z.int() }) })
  const fields = { many: { type: 'array' }, at: {}, kind: { type: 'string', enum: ['a'] }, deep: {} }
  expect(advertise(tool({ input, output }), true)).toMatchObject({
    inputSchema: { properties: { key: { type: 'string' }, list: { type: 'array', description: 'Some.' } } },
    outputSchema: { type: 'object', properties: fields },
  })
  const terse = JSON.stringify(advertise(tool({ input, output }), true))
  expect(terse).toContain('"n_th":{"type":"integer","default":4,"maximum":8}')
  for (const word of ['pattern', 'maxLength', 'minItems', 'maxItems', 'minimum', '"n"', 'additionalProperties'])
    expect(terse).not.toContain(word)
  const listed = advertise(tool({ output: z.array(output), wrapped: true }), true)
  expect(listed).toMatchObject({ outputSchema: { properties: { result: { items: { properties: fields } } } } })
  expect(JSON.stringify(listed)).not.toContain('"n"')
  const value = advertise(tool({ output: z.string().nullable(), wrapped: true }), true)
  expect(value).toMatchObject({ outputSchema: { properties: { result: {} } } })
  expect(JSON.stringify(advertise(tool({ input, output })))).toContain('"n"')
})

test('a type given by hand is advertised alone', () => {
  const id = z.union([z.int().positive(), z.string().transform(Number)]).meta({ type: 'integer' })
  expect(inputSchema({ input: z.strictObject({ id }) }).properties).toEqual({ id: { type: 'integer' } })
})

test('an error satisfies every output schema: clients on SDK v1 check that too', async () => {
  const error = { error: { code: 'X', message: 'x', hint: 'x' } }
  for (const row of fixtureDoor(new World()).tools) {
    const schema = outputSchema(row)
    if (schema === undefined) continue
    const judged = await fromJsonSchema(schema)['~standard'].validate(error)
    expect(judged).toEqual({ value: error })
  }
})

test('hints are on every tool', () => {
  const hints = (parts: Partial<Tool<object>>) => (advertise(tool(parts)) as { annotations: object }).annotations
  expect(hints({})).toEqual({ readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false })
  expect(hints({ effect: 'write', destructive: true })).toEqual({
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: false,
  })
})

test('a row keeps the types of its schemas', () => {
  const row = defineTool<object>()({
    ...tool(),
    input: z.strictObject({ n: z.number() }),
    output: z.object({ n: z.number() }),
    run: async ({ n }) => ({ n }),
  })
  expect(row.name).toBe('tool')
})

test.each<[string, Tool<object>]>([
  ['not a name every client takes', tool({ name: 'a/b' })],
  ['not a name every client takes', tool({ name: 'x'.repeat(65) })],
  ['has no title', tool({ title: '' })],
  ['the description is empty or too long', tool({ description: 'x'.repeat(1001) })],
  ['a tool that only reads destroys nothing', tool({ destructive: true })],
  ['the input takes unknown arguments', tool({ input: z.object({}) as never })],
  ['the input allows null', tool({ input: z.strictObject({ a: z.string().nullable().describe('A.') }) })],
  ['the input uses $ref', tool({ input: z.strictObject({ a: z.string().meta({ id: 'Shared', description: 'A.' }) }) })],
  ['"a" has no description', tool({ input: z.strictObject({ a: z.string() }) })],
  ['the output is not an object; wrap it', tool({ output: z.array(z.string()) })],
])('the lint says: %s', (fault, row) => {
  expect(lintDoor(door(row)).join('\n')).toContain(fault)
})

test('the lint sees the door as a whole too', () => {
  const faults = lintDoor({
    ...door(tool(), tool()),
    instructions: 'x'.repeat(2001),
    resources: [{ uri: 'x://{+bad}', name: 'bad', description: '', read: async () => null }],
  })
  expect(faults).toEqual([
    'd: the instructions are too long',
    'd: two tools have one name',
    'x://{+bad}: the description is empty or too long',
    'x://{+bad}: not a URI template',
  ])
})
