/** The log hides what must not be in it, and is JSON unless somebody watches. */
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createLog } from './log.ts'

function open(json: boolean) {
  const to = new PassThrough().setEncoding('utf8')
  const log = createLog({ level: 'info', json, to: to as unknown as NodeJS.WriteStream })
  return { log, written: () => String(to.read() ?? '') }
}

test('Secrets are hidden by the name of their field, also one level down', () => {
  const { log, written } = open(true)
  for (const name of ['authorization', 'x-api-key', 'mcp-session-id', 'cookie', 'token', 'key'])
    log.info({ [name]: 'hush', headers: { [name]: 'hush' }, other: 'shown' }, 'hello')
  const text = written()
  expect(text).not.toContain('hush')
  expect(text.match(/\[secret\]/g)).toHaveLength(12)
  expect(text.match(/"other":"shown"/g)).toHaveLength(6)
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
