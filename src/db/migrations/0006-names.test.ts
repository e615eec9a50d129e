/** Names that were stored before names that look alike became one. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { systemClock } from '../../base/clock.ts'
import { nameKey } from '../../base/names.ts'
import { migrate } from '../migrate.ts'
import { migrations } from './all.ts'

/** The key of a name as it was made before. */
const oldKey = (name: string): string => name.normalize('NFC').toLowerCase()

eachEngine('Stored names', (open) => {
  verifies('all.names.migrated', 'are compared by today’s keys, and nobody becomes somebody else', async () => {
    const db = await (await open({ empty: true })).connect()
    await migrate(
      db,
      migrations.filter(({ id }) => id < 6),
      systemClock,
    )
    const stored = [
      'ａlice',
      'alice',
      'al\u200bice',
      'Ünïcödé',
      'ｂob',
      'bob\u200b',
      'HumanOverseer',
      'Human-Overseer',
      'plain',
      `${'🦜'.repeat(60)}ａ\u200b`,
      `${'🦜'.repeat(60)}a`,
    ]
    await db.tx(async (tx) => {
      await tx.all(sql`INSERT INTO projects (slug, human_key, created_at) VALUES ('other', '/srv/other', 0)`)
      for (const name of stored)
        await tx.all(
          sql`INSERT INTO agents (project_id, name, name_key, created_at, active_at) VALUES (1, ${name}, ${oldKey(name)}, 0, 0)`,
        )
      // The same name in another project is nobody's twin.
      await tx.all(
        sql`INSERT INTO agents (project_id, name, name_key, created_at, active_at) VALUES (2, 'ａlice', 'ａlice', 0, 0)`,
      )
      for (const [n, name] of ['Ｐlan', 'plan', 'human_overseer'].entries())
        await tx.all(
          sql`INSERT INTO threads (uid, project_id, name, name_key, next_seq, created_at) VALUES (${`t${n}`}, 1, ${name}, ${oldKey(name)}, 1, 0)`,
        )
    })
    await migrate(db, migrations, systemClock)

    const agents = await db.all<{ name: string; name_key: string; project_id: number }>(
      sql`SELECT name, name_key, project_id FROM agents ORDER BY id`,
    )
    expect(agents.map(({ name }) => name)).toEqual([
      'ａlice-2',
      'alice',
      'al\u200bice-3',
      'Ünïcödé',
      'ｂob',
      'bob\u200b-2',
      'HumanOverseer',
      'Human-Overseer-2',
      'plain',
      `${'🦜'.repeat(60)}-2`,
      `${'🦜'.repeat(60)}a`,
      'ａlice',
    ])
    for (const { name, name_key } of agents) expect(name_key).toBe(nameKey(name))
    const topics = await db.all(sql`SELECT name, name_key FROM threads ORDER BY id`)
    expect(topics).toEqual([
      { name: 'Ｐlan', name_key: 'plan' },
      { name: 'plan', name_key: 'plan' },
      { name: 'human_overseer', name_key: 'humanoverseer' },
    ])
  })
})
