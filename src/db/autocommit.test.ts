/** A unit that is one statement: on PostgreSQL it needs no BEGIN and COMMIT, and keeps their promises. */
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { eachEngine } from '../../test/support/engines.ts'
import type { Db, Tx } from './port.ts'

eachEngine('A unit of one statement', (open, dialect) => {
  const begin = async (): Promise<Db> => {
    const db = await (await open({ empty: true })).connect()
    await db.tx(async (tx) => {
      await tx.all(sql`CREATE TABLE owners (id BIGINT PRIMARY KEY)`)
      await tx.all(
        sql`CREATE TABLE things (id BIGINT PRIMARY KEY, owner BIGINT REFERENCES owners (id) DEFERRABLE INITIALLY DEFERRED)`,
      )
    })
    return db
  }
  const things = async (db: Db) =>
    (await db.all<{ id: number }>(sql`SELECT id FROM things ORDER BY id`)).map(({ id }) => id)
  const insert = (tx: Tx, id: number, owner: number | null = null) => {
    if (tx.autocommit === undefined) throw new Error('It is shared.')
    return tx.autocommit<{ id: number }>(sql`INSERT INTO things (id, owner) VALUES (${id}, ${owner}) RETURNING id`)
  }

  if (dialect === 'sqlite')
    test('is none where units share a transaction', async () => {
      const db = await begin()
      expect(await db.tx(async (tx) => tx.autocommit)).toBeUndefined()
    })
  else {
    test('is committed when it resolves, and has no other', async () => {
      const db = await begin()
      const seen = await db.tx(async (tx) => {
        expect(await insert(tx, 1)).toEqual([{ id: 1 }])
        return things(db)
      })
      expect(seen).toEqual([1])
      await expect(
        db.tx(async (tx) => {
          await insert(tx, 2)
          await tx.all(sql`SELECT 1`)
        }),
      ).rejects.toThrow('has ended')
    })

    test('is not offered after another statement', async () => {
      const db = await begin()
      const after = await db.tx(async (tx) => {
        await tx.all(sql`SELECT 1`)
        return tx.autocommit
      })
      expect(after).toBeUndefined()
    })

    test('leaves nothing where it fails, be it at its commit', async () => {
      const db = await begin()
      await db.tx((tx) => insert(tx, 1))
      await expect(db.tx((tx) => insert(tx, 1))).rejects.toMatchObject({ kind: 'unique' })
      await expect(db.tx((tx) => insert(tx, 2, 99))).rejects.toMatchObject({ kind: 'foreign' })
      await expect(
        db.tx(async (tx) => tx.autocommit?.(sql`SELECT pg_terminate_backend(pg_backend_pid())`)),
      ).rejects.toMatchObject({ code: 'DB_BUSY', message: expect.stringContaining('may be saved or not') })
      expect(await things(db)).toEqual([1])
      await db.tx((tx) => insert(tx, 3))
      expect(await things(db)).toEqual([1, 3])
    })
  }
})
