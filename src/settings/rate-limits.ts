/** Settings of the limits on how often callers may call. */
import { flag, number, oneOf, redisUrl } from './kinds.ts'

const rate = (usual: number) => number(usual, { min: 0, max: 1_000_000 })

export const rateLimitSettings = {
  HTTP_RATE_LIMIT_ENABLED: flag(false).says(
    'Whether Parley limits how often an HTTP caller may call. The operator, pages for people, event streams and health probes are exempt. Callers without credentials are counted by their address.',
  ),
  HTTP_RATE_LIMIT_BACKEND: oneOf(['memory', 'redis'], 'memory').says(
    'Where calls are counted for their limits: `memory` for each process alone, or `redis` for all processes together, which needs HTTP_RATE_LIMIT_REDIS_URL. While Redis is away, each process counts alone.',
  ),
  HTTP_RATE_LIMIT_REDIS_URL: redisUrl().secret(
    'Redis server that counts calls where HTTP_RATE_LIMIT_BACKEND is redis: `redis://user:password@host:port/database`, or `rediss://…` over TLS; `redis+cluster://host:port,host:port` for a Cluster, `redis+sentinel://host:port,host:port/master` for a master that Sentinels know.',
  ),
  HTTP_RATE_LIMIT_PER_MINUTE: rate(60).says(
    'Requests that a caller may make in a minute, apart from tool calls and resource reads; 0 means no limit.',
  ),
  HTTP_RATE_LIMIT_TOOLS_PER_MINUTE: rate(60).says('Tool calls that a caller may make in a minute; 0 means no limit.'),
  HTTP_RATE_LIMIT_TOOLS_BURST: rate(0).says(
    'Tool calls that a caller may make at once after a pause; 0 means as many as in a minute.',
  ),
  HTTP_RATE_LIMIT_RESOURCES_PER_MINUTE: rate(120).says(
    'Resource reads that a caller may make in a minute; 0 means no limit.',
  ),
  HTTP_RATE_LIMIT_RESOURCES_BURST: rate(0).says(
    'Resource reads that a caller may make at once after a pause; 0 means as many as in a minute.',
  ),
}
