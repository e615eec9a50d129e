/** The two eras of the protocol as sibling tables: which methods each knows, and how each writes a result. */
import { SERVER_INFO_META_KEY } from '@modelcontextprotocol/server'
import { isRecord, type Json } from './json.ts'
import { type Handler, legacyMethods, modernMethods } from './methods.ts'
import type { Service } from './service.ts'
import type { EraName } from './versions.ts'

export interface Era<Scope> {
  readonly name: EraName
  readonly methods: ReadonlyMap<string, Handler<Scope>>
  /** The HTTP status of a method nobody knows. */
  readonly unknownMethodStatus: number
  /** The text of a result. */
  encode(method: string, result: Json): string
  /** The end of a result that is written by hand, after its members. */
  readonly tail: string
}

export type Eras<Scope> = Readonly<Record<EraName, Era<Scope>>>

/** Results that clients may keep (SEP-2549). Zero: ask again. Tools, templates and greeting depend on who asks, and so does what is read. */
const cache: Readonly<Record<string, Json>> = {
  'server/discover': { ttlMs: 0, cacheScope: 'private' },
  'tools/list': { ttlMs: 0, cacheScope: 'private' },
  'prompts/list': { ttlMs: 0, cacheScope: 'public' },
  'resources/list': { ttlMs: 0, cacheScope: 'public' },
  'resources/templates/list': { ttlMs: 0, cacheScope: 'private' },
  'resources/read': { ttlMs: 0, cacheScope: 'private' },
}

export function createEras<Scope>(service: Service<Scope>): Eras<Scope> {
  const stamp = { [SERVER_INFO_META_KEY]: service.serverInfo }
  const eras: Eras<Scope> = {
    legacy: {
      name: 'legacy',
      methods: new Map(Object.entries(legacyMethods(service))),
      unknownMethodStatus: 200,
      encode: (_, result) => JSON.stringify(result),
      tail: '}',
    },
    modern: {
      name: 'modern',
      methods: new Map(Object.entries(modernMethods(service))),
      unknownMethodStatus: 404,
      encode: (method, result) =>
        JSON.stringify({
          resultType: 'complete',
          ...cache[method],
          ...result,
          _meta: { ...(isRecord(result._meta) && result._meta), ...stamp },
        }),
      tail: `,"resultType":"complete","_meta":${JSON.stringify(stamp)}}`,
    },
  }
  return eras
}
