/** The log hides what must not be in it, and is JSON unless somebody watches. */
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { createLog, secretFields } from './log.ts'

function open(json: boolean, { rich = true, isTTY = false } = {}) {
  const to = Object.assign(new PassThrough().setEncoding('utf8'), { isTTY })
  const log = createLog({ level: 'info', json, rich, to: to as unknown as NodeJS.WriteStream })
  return { log, written: () => String(to.read() ?? '') }
}

test('Secrets are hidden by the name of their field, also one level down', () => {
  const { log, written } = open(true)
  expect(secretFields).toEqual(
    expect.arrayContaining(['authorization', 'x-api-key', 'mcp-session-id', 'cookie', 'token', 'key', 'reclaim_token']),
  )
  for (const name of secretFields) log.info({ [name]: 'hush', headers: { [name]: 'hush' }, other: 'shown' }, 'hello')
  const text = written()
  expect(text).not.toContain('hush')
  expect(text.match(/\[secret\]/g)).toHaveLength(2 * secretFields.length)
  expect(text.match(/"other":"shown"/g)).toHaveLength(secretFields.length)
})

test('An error is logged with its trace and its cause', () => {
  const { log, written } = open(true)
  log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'a tool failed')
  const { level, msg, err } = JSON.parse(written())
  expect({ level, msg }).toEqual({ level: 50, msg: 'a tool failed' })
  expect(err.stack).toContain('log.test.ts')
  expect(err.stack).toContain('inner')
})

test('It says no more than the level asks for', () => {
  const { log, written } = open(true)
  log.debug('quiet')
  expect(written()).toBe('')
})

test('On a terminal it is written for people', () => {
  const { log, written } = open(false)
  log.info({ token: 'hush' }, 'hello')
  const text = written()
  expect(text).toMatch(/INFO.*hello/)
  expect(text).not.toContain('hush')
  expect(() => JSON.parse(text)).toThrow()
})

verifies('serve.log.rich', 'On a terminal an entry has colours and its details below it, or is one plain line', () => {
  const details = { path: '/mcp', status: 200 }
  const rich = open(false, { isTTY: true })
  rich.log.info(details, 'hello')
  const coloured = rich.written()
  expect(coloured).toContain('\u001b[')
  expect(coloured.trimEnd().split('\n')).toHaveLength(3)
  const plain = open(false, { rich: false, isTTY: true })
  plain.log.info(details, 'hello')
  expect(plain.written()).toMatch(/^\[.*\] INFO: hello \{"path":"\/mcp","status":200\}\n$/)
})
