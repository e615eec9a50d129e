/** Topics as the core knows them, for tests without a door: who calls, how a sync is asked for. */
import { commons } from '../../src/base/names.ts'
import { local } from '../../src/core/access/callers.ts'
import { sessionHolder } from '../../src/core/access/holders.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { type Holder, join } from '../../src/core/topics/members.ts'
import type { Outgoing } from '../../src/core/topics/saying.ts'
import type { Syncing } from '../../src/core/topics/sync.ts'
import { createTopic } from '../../src/core/topics/topics.ts'

/** A sync that asks for nothing special, and does not wait. */
export const plain: Syncing = {
  outbox: [],
  maxItems: 50,
  includeSelf: false,
  autoAdvance: true,
  ackThrough: undefined,
  waitMs: 0,
  signals: [],
}

export const session = (name: string): Holder => ({ caller: local, project: commons, key: sessionHolder(name) })

export const outgoing = (body: string, clientId?: string): Outgoing => ({ body, kind: 'message', clientId })

/** Makes a topic in which each of these takes part, by a session of the same name. */
export async function enter(hub: Hub, topicName: string, ...names: string[]): Promise<string> {
  const topic = await createTopic(hub, local, commons, { name: topicName, mode: 'reuse' })
  for (const name of names) await join(hub, session(name), { topic, name, token: undefined })
  return topic.uid
}

/** `ok`, or the code of the error. */
export const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? Promise.reject(error),
  )
