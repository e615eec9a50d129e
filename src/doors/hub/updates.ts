/** Telling clients of the hub that a thread, an agent or the directory has changed. */
import type { Hub } from '../../core/hub/hub.ts'
import {
  beginFollowing,
  followUpdates,
  goOnAfter,
  type Mark,
  type Target,
  type Told,
} from '../../core/threads/updates.ts'
import type { Followed, Updates } from '../mcp/table.ts'
import { parseTemplate } from '../mcp/uri.ts'
import { type HubScope, hubCallerOf } from './scope.ts'

const agents = parseTemplate('apm2://agents{?cursor,limit}')
const thread = parseTemplate('apm2://threads/{threadId}{?cursor,limit,offset}')
const agent = parseTemplate('apm2://agents/{agentId}{?cursor,limit}')

function targetOf(uri: string): Target | undefined {
  if (agents.match(uri) !== undefined) return { kind: 'agents' }
  const [ofThread, ofAgent] = [thread.match(uri), agent.match(uri)]
  if (ofThread?.threadId !== undefined) return { kind: 'thread', thread: ofThread.threadId }
  return ofAgent?.agentId === undefined ? undefined : { kind: 'agent', name: ofAgent.agentId }
}

/** The place of an update as text: transaction, change, and its number among those of the change. */
const textOf = ({ place, index }: Told): string => `${place.tx}-${place.id}-${index}`

function toldOf(text: string | undefined): Told | undefined {
  const found = /^(\d{1,16})-(\d{1,16})-(\d{1,16})$/.exec(text ?? '')
  if (found === null) return undefined
  const [tx = 0, id = 0, index = 0] = found.slice(1).map(Number)
  return { place: { tx, id }, index }
}

interface Since {
  readonly from: Told['place']
  readonly mark: Mark
}

export const hubUpdates = (hub: Hub): Updates<HubScope> => ({
  async begin(uri, context) {
    const target = targetOf(uri)
    return target === undefined ? '' : JSON.stringify(await beginFollowing(hub, hubCallerOf(context), target))
  },
  place: async (context, last) => textOf(await goOnAfter(hub, hubCallerOf(context), toldOf(last))),
  follow: (followed, context, { after, fresh, tell }) =>
    followUpdates(hub, hubCallerOf(context), {
      resources: followed.flatMap(resourceOf).map((one) => ({ ...one, fresh: fresh?.has(one.uri) })),
      after: toldOf(after),
      tell: ({ uri, late, ...told }) => tell({ uri, place: textOf(told), late }),
    }),
})

/** A URI of no resource is followed by nobody. */
function resourceOf({ uri, since }: Followed) {
  const target = targetOf(uri)
  return target === undefined ? [] : [{ uri, target, ...(JSON.parse(since) as Since) }]
}
