/** The list of grants, a page at a time: those on servers come first, then those on threads. */
import { z } from 'zod'
import type { Hub } from '../../core/hub/hub.ts'
import { listServerGrants } from '../../core/remote-tools/grants.ts'
import { listGrants } from '../../core/threads/grants.ts'
import type { HubCaller } from '../../core/threads/hub-readers.ts'
import { type grantShape, toGrant, toServerGrant } from './shapes.ts'

const serverMark = 'server-'

/** A place in one of the two lists; `thread-0` is where the second one begins. */
export const grantCursor = z.string().regex(/^(server|thread)-\d{1,15}$/, 'must be a next_cursor of this tool')

interface GrantPage {
  readonly grants: readonly z.output<typeof grantShape>[]
  readonly next?: string | undefined
}

export async function pageGrants(
  hub: Hub,
  hubCaller: HubCaller,
  { cursor = `${serverMark}0`, limit }: { cursor?: string | undefined; limit: number },
): Promise<GrantPage> {
  const before = Number(cursor.slice(serverMark.length)) || undefined
  if (cursor.startsWith(serverMark)) {
    const { grants, next } = await listServerGrants(hub, hubCaller, { before, limit })
    const servers = grants.map(toServerGrant)
    if (next !== undefined) return { grants: servers, next: `${serverMark}${next}` }
    if (servers.length === limit) return { grants: servers, next: 'thread-0' }
    const rest = await pageGrants(hub, hubCaller, { cursor: 'thread-0', limit: limit - servers.length })
    return { grants: [...servers, ...rest.grants], next: rest.next }
  }
  const { grants, next } = await listGrants(hub, hubCaller, { before, limit })
  return { grants: grants.map(toGrant), next: next === undefined ? undefined : `thread-${next}` }
}
