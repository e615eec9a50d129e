/** The URL of a Redis: one server, a Cluster, or a master that Sentinels know. */

interface RedisNode {
  readonly host: string
  readonly port: number
}

export interface RedisAddress {
  readonly kind: 'server' | 'cluster' | 'sentinel'
  readonly tls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  /** Of a Cluster or of Sentinels, some that are asked for the others. */
  readonly nodes: readonly RedisNode[]
  /** The name under which Sentinels know the master. */
  readonly master: string | undefined
  readonly database: number
}

const form = /^(rediss?)(?:\+(cluster|sentinel))?:\/\/(?:([^:/]*)(?::([^/]*))?@)?([^@/?#]+)(\/[^?#]*)?$/i

/** The path after the hosts: a Cluster has one database only. */
const paths = {
  server: /^(?:\/(?<database>\d{0,5}))?$/,
  cluster: /^\/?$/,
  sentinel: /^\/(?<master>[\w.-]+)(?:\/(?<database>\d{0,5}))?$/,
}

/** Nothing but what the client heeds: a parameter that is passed over would mislead. Undefined where it is no such URL. */
export function parseRedisUrl(raw: string): RedisAddress | undefined {
  const [whole, scheme = '', several = 'server', user = '', secret = '', hosts = '', path = ''] = form.exec(raw) ?? []
  const kind = several.toLowerCase() as RedisAddress['kind']
  const { groups: rest = {} } = paths[kind].exec(path) ?? {}
  const nodes = hosts.split(',').map((host) => nodeOf(host, kind === 'sentinel' ? 26379 : 6379))
  const [username, password] = [decoded(user), decoded(secret)]
  if (whole === undefined || !paths[kind].test(path) || username === undefined || password === undefined)
    return undefined
  const known = nodes.filter((node) => node !== undefined)
  if (known.length < nodes.length || (kind === 'server' && nodes.length > 1)) return undefined
  return {
    kind,
    tls: scheme.toLowerCase() === 'rediss',
    username: username || undefined,
    password: password || undefined,
    nodes: known,
    master: rest.master,
    database: Number(rest.database ?? 0),
  }
}

function nodeOf(host: string, usualPort: number): RedisNode | undefined {
  const url = URL.parse(`redis://${host}`)
  if (url === null || url.hostname === '') return undefined
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || usualPort) }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
