/** The promises of the database port, on both engines. */
import sql, { join, raw } from 'sql-template-tag'
import { expect, test } from 'vitest'
import { eachEngine } from '../../test/support/engines.ts'
import { identity } from './dialect.ts'
import type { Db, Tx } from './port.ts'

eachEngine('A database', (open) => {
  async function connect(): Promise<Db> {
    const database = await open({ empty: true })
    const db = await database.connect()
    await db.tx(async (tx) => {
      await tx.all(
        raw(`CREATE TABLE rooms (id ${identity(tx.dialect)}, name TEXT UNIQUE, visits BIGINT NOT NULL DEFAULT 0)`),
      )
      await tx.all(sql`CREATE TABLE guests (room_id BIGINT NOT NULL REFERENCES rooms (id), name TEXT NOT NULL)`)
    })
    return db
  }

  const addRoom = (tx: Tx, name: string) =>
    tx.all<{ id: number }>(sql`INSERT INTO rooms (name) VALUES (${name}) RETURNING id`)

  const roomNames = async (db: Db) => {
    const rows = await db.all<{ name: string }>(sql`SELECT name FROM rooms ORDER BY name`)
    return rows.map(({ name }) => name)
  }

  test('gives the same values back', async () => {
    const db = await connect()
    await db.tx(async (tx) => {
      await tx.all(sql`CREATE TABLE cells (n BIGINT, t TEXT, i INTEGER)`)
      await tx.all(
        sql`INSERT INTO cells (n, t, i) VALUES (${2 ** 52 + 1}, ${'Ünï 🦜 "quoted"'}, ${1}), (${-3}, ${null}, ${0})`,
      )
    })
    expect(await db.all(sql`SELECT n, t, i FROM cells ORDER BY n`)).toEqual([
      { n: -3, t: null, i: 0 },
      { n: 2 ** 52 + 1, t: 'Ünï 🦜 "quoted"', i: 1 },
    ])
    expect(
      await db.all(
        sql`SELECT COUNT(*) AS count, SUM(i) AS sum, MAX(n) AS max, EXISTS (SELECT 1 FROM cells) AS some FROM cells`,
      ),
    ).toEqual([{ count: 2, sum: 1, max: 2 ** 52 + 1, some: 1 }])
  })

  test('returns what the work returned, once it can be read', async () => {
    const db = await connect()
    const [room] = await db.tx((tx) => addRoom(tx, 'hall'))
    expect(room).toEqual({ id: 1 })
    expect(await roomNames(db)).toEqual(['hall'])
  })

  test('undoes a unit that throws, and not its neighbours', async () => {
    const db = await connect()
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'fail', 'c', 'd'].map((name) =>
        db.tx(async (tx) => {
          await addRoom(tx, name)
          await addRoom(tx, `${name}2`)
          if (name === 'fail') throw new Error('on purpose')
          return name
        }),
      ),
    )
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    ).toEqual(['a', 'b', 'on purpose', 'c', 'd'])
    expect(await roomNames(db)).toEqual(['a', 'a2', 'b', 'b2', 'c', 'c2', 'd', 'd2'])
  })

  test('tells by name what a statement violates', async () => {
    const db = await connect()
    await db.tx((tx) => addRoom(tx, 'hall'))
    await expect(db.tx((tx) => addRoom(tx, 'hall'))).rejects.toMatchObject({ name: 'Fault', kind: 'unique' })
    await expect(
      db.tx((tx) => tx.all(sql`INSERT INTO guests (room_id, name) VALUES (${99}, ${'eve'})`)),
    ).rejects.toMatchObject({ name: 'Fault', kind: 'foreign' })
    await expect(
      db.tx((tx) => tx.all(sql`INSERT INTO guests (room_id, name) VALUES (${1}, ${null})`)),
    ).rejects.toMatchObject({ name: 'Fault', kind: 'constraint' })
  })

  test('fails a unit whose statement failed, even if the work goes on', async () => {
    const db = await connect()
    await db.tx((tx) => addRoom(tx, 'hall'))
    const unit = db.tx(async (tx) => {
      await addRoom(tx, 'attic')
      await addRoom(tx, 'hall').catch(() => {})
      await expect(addRoom(tx, 'cellar')).rejects.toMatchObject({ kind: 'unique' })
      return 'done'
    })
    await expect(unit).rejects.toMatchObject({ kind: 'unique' })
    expect(await roomNames(db)).toEqual(['hall'])
  })

  test('fails a unit by a statement that it did not wait for', async () => {
    const db = await connect()
    const write = (tx: Tx, name: string) => tx.enqueue(sql`INSERT INTO rooms (name) VALUES (${name})`)
    const unit = db.tx(async (tx) => {
      write(tx, 'attic')
      write(tx, 'attic')
      write(tx, 'cellar')
    })
    await expect(unit).rejects.toMatchObject({ kind: 'unique' })
    expect(await roomNames(db)).toEqual([])
    let kept: Tx | undefined
    await db.tx(async (tx) => {
      kept = tx
      write(tx, 'attic')
      write(tx, 'cellar')
    })
    expect(await roomNames(db)).toEqual(['attic', 'cellar'])
    expect(() => kept && write(kept, 'late')).toThrow('has ended')
  })

  test('keeps units that come at once apart', async () => {
    const db = await connect()
    const unit = (name: string) =>
      db.tx(async (tx) => {
        await addRoom(tx, name)
        if (name === 'fail') throw new Error('on purpose')
        tx.enqueue(sql`INSERT INTO rooms (name) VALUES (${`${name}2`})`)
        return name
      })
    const outcomes = await Promise.allSettled(['a', 'b', 'fail', 'b', 'c'].map(unit))
    const [a, b, failed, other, c] = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : outcome.reason,
    )
    expect([a, failed, c]).toMatchObject(['a', { message: 'on purpose' }, 'c'])
    // They run beside each other on PostgreSQL: either of the two may be the first.
    expect(b === 'b' ? [b, other] : [other, b]).toMatchObject(['b', { kind: 'unique' }])
    expect((await roomNames(db)).toSorted()).toEqual(['a', 'a2', 'b', 'b2', 'c', 'c2'])
  })

  test('lets the work throw its own error after a failed statement', async () => {
    const db = await connect()
    await db.tx((tx) => addRoom(tx, 'hall'))
    const unit = db.tx(async (tx) => {
      await addRoom(tx, 'hall').catch(() => {
        throw new Error('there is a hall already')
      })
    })
    await expect(unit).rejects.toThrow('there is a hall already')
  })

  test('refuses statements of a unit that has ended', async () => {
    const db = await connect()
    let kept: Tx | undefined
    await db.tx(async (tx) => {
      kept = tx
    })
    await expect(kept?.all(sql`SELECT 1`)).rejects.toThrow('has ended')
    await expect(
      db.tx(async (tx) => {
        kept = tx
        throw new Error('on purpose')
      }),
    ).rejects.toThrow('on purpose')
    await expect(kept?.all(sql`SELECT 1`)).rejects.toThrow('has ended')
  })

  test('runs statements that a unit sends together', async () => {
    const db = await connect()
    const rooms = await db.tx((tx) => Promise.all([addRoom(tx, 'a'), addRoom(tx, 'b'), addRoom(tx, 'c')]))
    expect(rooms.flat()).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
  })

  test('loses no update of a row that many change at once', async () => {
    const db = await connect()
    await db.tx((tx) => addRoom(tx, 'hall'))
    const visits = await Promise.all(
      Array.from({ length: 200 }, () =>
        db.tx(async (tx) => {
          const [row] = await tx.all<{ visits: number }>(
            sql`UPDATE rooms SET visits = visits + 1 WHERE id = 1 RETURNING visits`,
          )
          return row?.visits
        }),
      ),
    )
    expect(new Set(visits)).toEqual(new Set(Array.from({ length: 200 }, (_, i) => i + 1)))
  })

  test('keeps apart texts that begin alike, and more of them than it remembers', async () => {
    const db = await connect()
    await db.tx((tx) => Promise.all(['a', 'b', 'c'].map((name) => addRoom(tx, name))))
    for (let length = 1; length <= 700; length++) {
      const ids = Array.from({ length }, (_, i) => i + 2)
      const rows = await db.all(sql`SELECT id FROM rooms WHERE id IN (${join(ids)})`)
      expect(rows).toHaveLength(Math.min(length, 2))
    }
    expect(await db.all(sql`SELECT id FROM rooms WHERE id = ${1}`)).toHaveLength(1)
    expect(await db.all(sql`SELECT id FROM rooms WHERE id = ${1} AND name = ${'b'}`)).toHaveLength(0)
  })

  test('finishes what it has accepted when it is closed, and accepts no more', async () => {
    const database = await open({ empty: true })
    const db = await database.connect()
    await db.tx((tx) => tx.all(sql`CREATE TABLE rooms (name TEXT)`))
    const accepted = Array.from({ length: 50 }, (_, i) =>
      db.tx((tx) => tx.all(sql`INSERT INTO rooms (name) VALUES (${`${i}`})`)),
    )
    const closed = db.close()
    await expect(db.tx(async () => {})).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
    await expect(db.all(sql`SELECT 1`)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
    await Promise.all(accepted)
    await closed
    await db.close()
    await expect(db.listen(() => {})).rejects.toMatchObject({ code: 'SHUTTING_DOWN' })
    const again = await database.connect()
    expect(await again.all(sql`SELECT COUNT(*) AS count FROM rooms`)).toEqual([{ count: 50 }])
  })
})
