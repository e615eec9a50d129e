/** Settings of the limits on how often callers may call. */
import { flag, number, oneOf, redisUrl, setting } from './kinds.ts'

const rate = number({ min: 0, max: 1_000_000 })

export const rateLimitSettings = {
  HTTP_RATE_LIMIT_ENABLED: setting({
    default: 'false',
    says: 'Whether HTTP callers are limited in how often they call. The operator is not, nor are pages for people, event streams and health probes. Callers without credentials are counted by their address.',
    parse: flag,
  }),
  HTTP_RATE_LIMIT_BACKEND: setting({
    default: 'memory',
    says: 'Where calls are counted for their limits: `memory` for each process alone, or `redis` for all processes together, which needs HTTP_RATE_LIMIT_REDIS_URL. While Redis is away, each process counts alone.',
    parse: oneOf('memory', 'redis'),
  }),
  HTTP_RATE_LIMIT_REDIS_URL: setting({
    default: '',
    says: 'Redis server that counts calls where HTTP_RATE_LIMIT_BACKEND is redis: `redis://user:password@host:port/database`, or `rediss://…` over TLS; `redis+cluster://host:port,host:port` for a Cluster, `redis+sentinel://host:port,host:port/master` for a master that Sentinels know.',
    secret: true,
    parse: redisUrl,
  }),
  HTTP_RATE_LIMIT_PER_MINUTE: setting({
    default: '60',
    says: 'Requests that a caller may make in a minute, besides calls of tools and reads of resources; 0 is no limit.',
    parse: rate,
  }),
  HTTP_RATE_LIMIT_TOOLS_PER_MINUTE: setting({
    default: '60',
    says: 'Calls of tools that a caller may make in a minute; 0 is no limit.',
    parse: rate,
  }),
  HTTP_RATE_LIMIT_TOOLS_BURST: setting({
    default: '0',
    says: 'Calls of tools that a caller may make at once after a time of silence; 0 is as many as in a minute.',
    parse: rate,
  }),
  HTTP_RATE_LIMIT_RESOURCES_PER_MINUTE: setting({
    default: '120',
    says: 'Reads of resources that a caller may make in a minute; 0 is no limit.',
    parse: rate,
  }),
  HTTP_RATE_LIMIT_RESOURCES_BURST: setting({
    default: '0',
    says: 'Reads of resources that a caller may make at once after a time of silence; 0 is as many as in a minute.',
    parse: rate,
  }),
} as const
