/** Names that were stored before names were compared by their looks. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { systemClock } from '../../base/clock.ts'
import { nameKey } from '../../base/names.ts'
import { migrate } from '../migrate.ts'
import { migrations } from './all.ts'

eachEngine('Stored names that look alike', (open) => {
  verifies('all.names.lookalikes', 'stay as they are, and no third one joins them', async () => {
    const db = await (await open({ empty: true })).connect()
    await migrate(
      db,
      migrations.filter(({ id }) => id < 19),
      systemClock,
    )
    await db.tx(async (tx) => {
      await tx.all(sql`INSERT INTO projects (slug, human_key, created_at) VALUES ('other', '/srv/other', 0)`)
      for (const [project, name] of [
        [1, 'coco'],
        [1, 'сосо'],
        [1, 'fox'],
        [2, 'сосо'],
      ] as const)
        await tx.all(
          sql`INSERT INTO agents (project_id, name, name_key, created_at, active_at) VALUES (${project}, ${name}, ${nameKey(name)}, 0, 0)`,
        )
    })
    await migrate(db, migrations, systemClock)
    expect(await db.all(sql`SELECT name, look FROM agents ORDER BY id`)).toEqual([
      { name: 'coco', look: 'coco' },
      { name: 'сосо', look: null },
      { name: 'fox', look: 'fox' },
      { name: 'сосо', look: 'coco' },
    ])
  })
})
