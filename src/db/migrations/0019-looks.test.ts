/** Names that were stored before names were compared by their looks. */
import sql, { join } from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { systemClock } from '../../base/clock.ts'
import { lookOf } from '../../base/confusables.ts'
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

  verifies('all.names.lookalikes', 'are few among thousands, which all get their looks', async () => {
    const db = await (await open({ empty: true })).connect()
    await migrate(
      db,
      migrations.filter(({ id }) => id < 19),
      systemClock,
    )
    // The Cyrillic о of every tenth name makes it look like the one before.
    const names = Array.from({ length: 3000 }, (_, n) => (n % 10 === 9 ? `fоx${n - 1}` : `fox${n}`))
    await db.tx(async (tx) => {
      for (let from = 0; from < names.length; from += 500) {
        const rows = names.slice(from, from + 500).map((name) => sql`(1, ${name}, ${nameKey(name)}, 0, 0)`)
        await tx.all(sql`INSERT INTO agents (project_id, name, name_key, created_at, active_at) VALUES ${join(rows)}`)
      }
    })
    await migrate(db, migrations, systemClock)
    const looks = await db.all<{ name: string; look: string | null }>(sql`SELECT name, look FROM agents ORDER BY id`)
    expect(looks).toEqual(names.map((name) => ({ name, look: name.startsWith('fox') ? lookOf(name) : null })))
  })
})
