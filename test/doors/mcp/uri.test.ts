/** Which URIs a template takes, and what it reads from them. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseTemplate } from '../../../src/doors/mcp/uri.ts'

describe('resource://inbox/{agent}{?project,limit}', () => {
  const template = parseTemplate('resource://inbox/{agent}{?project,limit}')
  test.each([
    ['resource://inbox/bob', { agent: 'bob' }],
    ['resource://inbox/bob?project=p', { agent: 'bob', project: 'p' }],
    ['resource://inbox/bob?limit=5', { agent: 'bob', limit: '5' }],
    ['resource://inbox/bob?limit=5&project=p', { agent: 'bob', project: 'p', limit: '5' }],
    ['resource://inbox/bob?project=', { agent: 'bob', project: '' }],
    ['resource://inbox/bob?project=a%2Fb+c', { agent: 'bob', project: 'a/b c' }],
    ['resource://inbox/a%20b', { agent: 'a b' }],
    ['resource://inbox/bob?', { agent: 'bob' }],
  ])('%s is taken', (uri, values) => {
    expect(template.match(uri)).toEqual(values)
  })

  test.each([
    'resource://inbox/',
    'resource://inbox',
    'resource://inbox/bob/more',
    'resource://inbox/bob?colour=red',
    'resource://inbox/%E0%A4%A',
    'resource://outbox/bob',
    'xresource://inbox/bob',
    'resource://inbox/bob#part',
  ])('%s is not', (uri) => {
    expect(template.match(uri)).toBeUndefined()
  })
})

test('a URI without variables takes itself only, dots and all', () => {
  const template = parseTemplate('resource://tooling/v1.0')
  expect(template.match('resource://tooling/v1.0')).toEqual({})
  expect(template.match('resource://tooling/v1x0')).toBeUndefined()
})

test('several variables are told apart by what is between them', () => {
  const template = parseTemplate('resource://{project}/mail/{id}.json')
  expect(template.match('resource://p/mail/7.json')).toEqual({ project: 'p', id: '7' })
  expect(template.variables).toEqual(['project', 'id'])
})

test.each(['', '{?only}', 'x://{+path}', 'x://{a', 'x://a}', 'x://{a}{?b}tail'])('%j is not a template', (text) => {
  expect(() => parseTemplate(text)).toThrow('Not a URI template')
})

test('whatever is written into a URI is read from it again', () => {
  const template = parseTemplate('x://{name}{?q}')
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (name, q) => {
      const uri = `x://${encodeURIComponent(name)}?${new URLSearchParams({ q })}`
      expect(template.match(uri)).toEqual({ name, q })
    }),
  )
})
