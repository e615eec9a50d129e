/** Messages for tests of search, written as rows: which door they came through is not its matter. */

import sql from 'sql-template-tag'
import { commons } from '../../src/base/names.ts'
import { local } from '../../src/core/access/callers.ts'
import { sightOf } from '../../src/core/access/rules.ts'
import { ensureAgent } from '../../src/core/agents/agents.ts'
import { type Hub, inside } from '../../src/core/hub/hub.ts'
import { ensureProject } from '../../src/core/projects/projects.ts'
import { type Hit, type Scope, type Searching, search } from '../../src/core/search/search.ts'
import type { Db } from '../../src/db/port.ts'
import { TestClock } from './clock.ts'
import type { TestDatabase } from './engines.ts'
import { openTestHub } from './hub.ts'

/** A hub with a connection of its own, as another process would have. */
export async function connectHub(database: TestDatabase, clock = new TestClock()): Promise<Hub> {
  return openTestHub(await database.connect(), { clock })
}

export interface TestMessage {
  readonly body: string
  readonly from?: string | undefined
  readonly topic?: string | undefined
  readonly project?: string | undefined
  /** Mail instead: in a thread of this key, or in one of its own that has none. */
  readonly mail?: { readonly key?: string; readonly subject?: string; readonly guests?: readonly string[] }
}

/** Appends messages to topics or threads, which are made as needed, and returns the ids of the messages. */
export async function writeMessages(hub: Hub, messages: readonly TestMessage[]): Promise<number[]> {
  const ids: number[] = []
  for (const { body, from = 'alice', topic = 'general', project = commons, mail } of messages) {
    const sender = await ensureAgent(hub, local, { project, name: from })
    const guests: number[] = []
    for (const guest of mail?.guests ?? []) guests.push((await ensureProject(hub, local, guest)).id)
    const own = mail && (mail.key ?? hub.ids.uuid())
    const uid = own === undefined ? `uid-${project}-${topic}` : `mail-${project}-${own}`
    const name = own === undefined ? topic : null
    ids.push(
      await hub[inside].db.tx(async (tx) => {
        await tx.all(sql`
          INSERT INTO threads (uid, project_id, next_seq, created_at, name, name_key, key)
          VALUES (${uid}, ${sender.projectId}, 1, 0, ${name}, ${name}, ${mail?.key ?? null}) ON CONFLICT DO NOTHING`)
        const [made] = await tx.all<{ id: number }>(sql`
          WITH place AS (SELECT id, next_seq FROM threads WHERE uid = ${uid})
          INSERT INTO messages (uid, thread_id, seq, sender_id, subject, body, created_at)
          SELECT ${hub.ids.uuid()}, id, next_seq, CAST(${sender.id} AS BIGINT), CAST(${mail?.subject ?? null} AS TEXT),
            ${body}, CAST(${hub.clock.now()} AS BIGINT)
          FROM place RETURNING id`)
        for (const guest of guests)
          await tx.all(sql`
            INSERT INTO message_guests (project_id, thread_id, message_id)
            SELECT CAST(${guest} AS BIGINT), thread_id, id FROM messages WHERE id = ${made?.id}`)
        await tx.all(sql`UPDATE threads SET next_seq = next_seq + 1 WHERE uid = ${uid}`)
        return made?.id ?? 0
      }),
    )
  }
  return ids
}

/** Messages as an older Parley wrote them, whose tables are not those of today. */
export function writeOldMessages(db: Db, bodies: readonly string[]): Promise<void> {
  return db.tx(async (tx) => {
    const [agent] = await tx.all<{ id: number; project_id: number }>(sql`
      INSERT INTO agents (project_id, name, name_key, created_at)
      SELECT id, 'alice', 'alice', 0 FROM projects WHERE slug = 'commons' RETURNING id, project_id`)
    const [thread] = await tx.all<{ id: number }>(sql`
      INSERT INTO threads (uid, project_id, next_seq, created_at, name, name_key)
      VALUES ('old', ${agent?.project_id}, ${bodies.length + 1}, 0, 'general', 'general') RETURNING id`)
    for (const [n, body] of bodies.entries())
      await tx.all(sql`
        INSERT INTO messages (uid, thread_id, seq, sender_id, body, created_at)
        VALUES (${`old-${n}`}, ${thread?.id}, ${n + 1}, ${agent?.id}, ${body}, 0)`)
  })
}

export const inTopics = async (hub: Hub, project: string = commons) =>
  ({ projectId: (await ensureProject(hub, local, project)).id, topics: true }) as const

export const inProject = async (hub: Hub, project: string = commons) =>
  ({ sight: sightOf(local, (await ensureProject(hub, local, project)).id) }) as const

/** The hits of a search alone. */
export const searchHits = async (hub: Hub, scope: Scope, what: Searching): Promise<readonly Hit[]> =>
  (await search(hub, scope, what)).hits
