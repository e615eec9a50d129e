/** URLs of a Redis: one server, a Cluster, Sentinels. */
import { expect, test } from 'vitest'
import { verifies } from '../../test/support/verifies.ts'
import { parseRedisUrl } from './address.ts'

const plain = { kind: 'server', tls: false, username: undefined, password: undefined, master: undefined, database: 0 }

verifies('all.redis.kinds', 'A URL names one server, some nodes of a Cluster, or Sentinels and their master', () => {
  const one = [{ host: 'localhost', port: 6379 }]
  expect(parseRedisUrl('redis://localhost')).toEqual({ ...plain, nodes: one })
  expect(parseRedisUrl('rediss://u:p%40%2F@[::1]:6380/2')).toEqual({
    ...plain,
    tls: true,
    username: 'u',
    password: 'p@/',
    nodes: [{ host: '::1', port: 6380 }],
    database: 2,
  })
  expect(parseRedisUrl('rediss+cluster://:secret@a:7000,b')).toEqual({
    ...plain,
    kind: 'cluster',
    tls: true,
    password: 'secret',
    nodes: [
      { host: 'a', port: 7000 },
      { host: 'b', port: 6379 },
    ],
  })
  expect(parseRedisUrl('redis+sentinel://a,b:26380/main.master/3')).toEqual({
    ...plain,
    kind: 'sentinel',
    nodes: [
      { host: 'a', port: 26379 },
      { host: 'b', port: 26380 },
    ],
    master: 'main.master',
    database: 3,
  })
})

test.each([
  'localhost:6379',
  'http://localhost',
  'redis://',
  'redis://localhost/zero',
  'redis://localhost?db=1',
  'redis://a,b',
  'redis://a:b',
  'redis://u:%zz@a',
  'redis+cluster://a/1',
  'redis+cluster://a,,b',
  'redis+sentinel://a',
  'redis+sentinel://a/',
  'redis+sentinel://a/main/x',
])('%s is none', (url) => {
  expect(parseRedisUrl(url)).toBeUndefined()
})
