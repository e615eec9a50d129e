/** Messages for tests of search, written as rows: which door they came through is not its matter. */
import sql from 'sql-template-tag'
import { commons } from '../../src/base/names.ts'
import { ensureAgent } from '../../src/core/agents.ts'
import type { Hub } from '../../src/core/hub.ts'
import { ensureProject } from '../../src/core/projects.ts'
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
}

/** Appends messages to topics, which are made as needed, and returns the ids of the messages. */
export async function writeMessages(hub: Hub, messages: readonly TestMessage[]): Promise<number[]> {
  const ids: number[] = []
  for (const { body, from = 'alice', topic = 'general', project = commons } of messages) {
    const sender = await ensureAgent(hub, project, from)
    const uid = `uid-${project}-${topic}`
    ids.push(
      await hub.db.tx(async (tx) => {
        await tx.all(sql`
          INSERT INTO threads (uid, project_id, next_seq, created_at, name, name_key)
          VALUES (${uid}, ${sender.projectId}, 1, 0, ${topic}, ${topic}) ON CONFLICT DO NOTHING`)
        const [made] = await tx.all<{ id: number }>(sql`
          WITH place AS (SELECT id, next_seq FROM threads WHERE uid = ${uid})
          INSERT INTO messages (uid, thread_id, seq, sender_id, body, created_at)
          SELECT ${hub.ids.uuid()}, id, next_seq, CAST(${sender.id} AS BIGINT), ${body}, CAST(${hub.clock.now()} AS BIGINT)
          FROM place RETURNING id`)
        await tx.all(sql`UPDATE threads SET next_seq = next_seq + 1 WHERE uid = ${uid}`)
        return made?.id ?? 0
      }),
    )
  }
  return ids
}

export const inTopics = async (hub: Hub, project: string = commons) =>
  ({ projectId: await ensureProject(hub, project), topics: true }) as const
