/** How bad arguments are worded: which one, what is allowed, what was given. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { HubError } from '../../../src/base/errors.ts'
import { readArguments } from '../../../src/doors/mcp/args.ts'
import { threadKey } from '../../../src/doors/words/fields.ts'
import { verifies } from '../../support/verifies.ts'

const item = z.strictObject({ text: z.string(), tags: z.array(z.string()).optional() })
const input = z.strictObject({
  name: z.string().min(1).max(5).optional(),
  id: z
    .string()
    .regex(/^[a-z]+$/)
    .optional(),
  slug: z
    .string()
    .regex(/^[a-z]+$/, 'must be lower-case letters')
    .optional(),
  mail: z.email().optional(),
  seconds: z.number().min(0).max(60).optional(),
  above: z.number().gt(0).lt(10).optional(),
  step: z.number().multipleOf(5).optional(),
  count: z.int().optional(),
  flag: z.boolean().optional(),
  mode: z.enum(['reuse', 'new']).optional(),
  list: z.array(item).min(1).max(2).optional(),
  either: z.union([z.string(), z.number()]).optional(),
  even: z
    .number()
    .refine((value) => value % 2 === 0)
    .optional(),
  table: z.record(z.string(), z.string()).optional(),
})

function fault(args: Record<string, unknown>, schema: z.ZodObject = input): HubError {
  try {
    readArguments({ name: 'tool', input: schema }, args)
  } catch (error) {
    if (error instanceof HubError) return error
  }
  throw new Error('the arguments were taken')
}

describe('a fault is said in one sentence', () => {
  test.each([
    [{ name: 5 }, 'Argument "name" must be a string; got 5.'],
    [{ name: '' }, 'Argument "name" must have at least 1 character; it has 0.'],
    [{ name: 'toolong' }, 'Argument "name" must have at most 5 characters; it has 7.'],
    [{ id: 'A1' }, 'Argument "id" must match /^[a-z]+$/; got "A1".'],
    [{ slug: 'A1' }, 'Argument "slug" must be lower-case letters.'],
    [{ mail: 'nobody' }, 'Argument "mail" must be an email; got "nobody".'],
    [{ seconds: -1 }, 'Argument "seconds" must be at least 0; got -1.'],
    [{ seconds: 61 }, 'Argument "seconds" must be at most 60; got 61.'],
    [{ seconds: 'five' }, 'Argument "seconds" must be a number; got "five".'],
    [{ seconds: '61' }, 'Argument "seconds" must be at most 60; got 61.'],
    [{ above: 0 }, 'Argument "above" must be more than 0; got 0.'],
    [{ above: 10 }, 'Argument "above" must be less than 10; got 10.'],
    [{ step: 7 }, 'Argument "step" must be a multiple of 5; got 7.'],
    [{ count: 1.5 }, 'Argument "count" must be a whole number; got 1.5.'],
    [{ flag: 'yes' }, 'Argument "flag" must be true or false; got "yes".'],
    [{ mode: 'old' }, 'Argument "mode" must be one of "reuse", "new"; got "old".'],
    [{ list: 'x' }, 'Argument "list" must be a list; got "x".'],
    [{ list: {} }, 'Argument "list" must be a list; got an object.'],
    [{ list: [] }, 'Argument "list" must have at least 1 item; it has 0.'],
    [{ list: [{}] }, 'Argument "list[0].text" is missing; it must be a string.'],
    [{ list: [{ text: 'x', tags: ['a', 1] }] }, 'Argument "list[0].tags[1]" must be a string; got 1.'],
    [{ list: [{ text: 'x', colour: 1 }] }, 'Argument "list[0]" has no field "colour".'],
    [{ list: [null] }, 'Argument "list[0]" must be an object; got null.'],
    [{ either: [] }, 'Argument "either" must be a string; got a list, or must be a number; got a list.'],
    [{ even: 3 }, 'Argument "even" is not allowed; got 3.'],
    [{ table: { a: 1 } }, 'Argument "table.a" must be a string; got 1.'],
    [{ nope: 1 }, 'There is no argument "nope".'],
    [{ nope: 1, neither: 2 }, 'There is no argument "nope", "neither".'],
  ])('%j', (args, message) => {
    expect(fault(args)).toMatchObject({ code: 'INVALID_ARGUMENT', message })
  })
})

test('several faults are said together, but not without end', () => {
  const error = fault({ name: 5, seconds: -1, flag: 'x', mode: 'x', count: 'x', list: 5, step: 3 })
  expect(error.message.match(/Argument /g)).toHaveLength(5)
})

test('what was given is cut short', () => {
  expect(fault({ id: 'X'.repeat(10_000) }).message.length).toBeLessThan(120)
})

verifies('all.arguments.hint', 'the hint is about the argument that is wrong', () => {
  const schema = z.strictObject({
    name: z.string().describe('Your name.'),
    seconds: z.number().optional(),
    count: z.int().default(1),
  })
  expect(fault({}, schema)).toMatchObject({
    message: 'Argument "name" is missing; it must be a string.',
    hint: 'tool takes name (string): Your name.',
  })
  expect(fault({ name: 'a', seconds: 'x', count: [] }, schema).hint).toBe(
    'tool takes seconds (number, optional). tool takes count (integer, optional).',
  )
  expect(fault({ name: 'a', second: 1 }, schema).hint).toBe('Did you mean seconds?')
  expect(fault({ name: 'a', zzz: 1 }, schema).hint).toBe(
    'Arguments of tool: name (string), seconds (number, optional), count (integer, optional).',
  )
  expect(fault({ x: 1 }, z.strictObject({})).hint).toBe('tool takes no arguments.')
})

verifies('all.arguments.text', 'numbers, booleans and choices are taken as text', () => {
  const schema = z.strictObject({
    count: z.int().default(1),
    seconds: z.number().optional(),
    flag: z.boolean().default(false),
    importance: z.enum(['normal', 'high']).default('normal'),
    outbox: z.array(z.strictObject({ ack: z.boolean(), text: z.string() })).optional(),
  })
  const read = (args: Record<string, unknown>) => readArguments({ name: 'tool', input: schema }, args)
  const given = {
    count: '3',
    seconds: ' 1.5 ',
    flag: 'True',
    importance: 'High',
    outbox: [{ ack: 'false', text: '7' }],
  }
  const before = structuredClone(given)
  expect(read(given)).toEqual({
    count: 3,
    seconds: 1.5,
    flag: true,
    importance: 'high',
    outbox: [{ ack: false, text: '7' }],
  })
  expect(given).toEqual(before)
  expect(fault({ count: '1.5' }, schema).message).toBe('Argument "count" must be a whole number; got 1.5.')
  expect(fault({ flag: 'yes' }, schema).message).toBe('Argument "flag" must be true or false; got "yes".')
  expect(fault({ importance: 'higher' }, schema).message).toContain('must be one of "normal", "high"')
})

test('a missing argument of several forms is asked for in one', () => {
  expect(fault({ thread_id: null }, z.strictObject({ thread_id: threadKey })).message).toBe(
    'Argument "thread_id" is missing; it must be a string.',
  )
})

test('a missing choice is told what it may be', () => {
  expect(fault({}, z.strictObject({ mode: z.enum(['a', 'b']) })).message).toBe(
    'Argument "mode" is missing; it must be one of "a", "b".',
  )
})

test('null stands for an argument that is not there, within an argument it does not', () => {
  expect(readArguments({ name: 'tool', input }, { name: null, seconds: 5 })).toEqual({ seconds: 5 })
  expect(fault({ list: [{ text: null }] }).message).toBe('Argument "list[0].text" must be a string; got null.')
})
