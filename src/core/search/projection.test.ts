/** The search index, on both engines: it is whole whenever somebody searches, whoever filled it and whatever stopped them. */
import sql, { raw } from 'sql-template-tag'
import { expect, test } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import {
  connectHub,
  inProject,
  inTopics,
  searchHits as search,
  writeMessages,
  writeOldMessages,
} from '../../../test/support/search.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { migrate } from '../../db/migrate.ts'
import { migrations } from '../../db/migrations/all.ts'
import type { Db } from '../../db/port.ts'
import type { Phrase } from '../../fulltext/query.ts'
import { countUnindexed, type Finding, findNewest, indexNext, listFound } from '../../store/search/search.ts'
import { type Hub, inside } from '../hub/hub.ts'
import { send } from '../messages/send.ts'
import { catchUp, keepSearchable, rebuildSearch } from './projection.ts'

const phrase = (...words: string[]): Phrase => ({ kind: 'phrase', words, prefix: false, field: undefined })

const notes = (count: number, from = 0) => Array.from({ length: count }, (_, n) => ({ body: `note number${from + n}` }))

eachEngine('The search index', (open, dialect) => {
  const find = async (hub: Hub, query: string) =>
    (await search(hub, await inTopics(hub), { query, limit: 100 })).map(({ snippet }) => snippet.text)

  /** How many messages the index itself holds, and how often they say `note`. */
  const contents = (hub: Hub) =>
    hub[inside].db.tx(async (tx) => {
      if (dialect === 'postgres')
        return (
          await tx.all<{ messages: number; notes: number }>(sql`
            SELECT COUNT(*) AS messages,
              COALESCE(SUM((SELECT array_length(positions, 1) FROM unnest(words) WHERE lexeme = 'note')), 0) AS notes
            FROM search_words`)
        )[0]
      const sum = { messages: 0, notes: 0 }
      for (const { part } of await tx.all<{ part: number }>(sql`SELECT part FROM search_parts`)) {
        await tx.all(raw(`CREATE VIRTUAL TABLE vocabulary USING fts5vocab(search_${part}, 'row')`))
        const [word] = await tx.all<{ cnt: number }>(sql`SELECT cnt FROM vocabulary WHERE term = 'note'`)
        const [rows] = await tx.all<{ n: number }>(raw(`SELECT COUNT(*) AS n FROM search_${part}_docsize`))
        await tx.all(raw('DROP TABLE vocabulary'))
        sum.messages += rows?.n ?? 0
        sum.notes += word?.cnt ?? 0
      }
      return sum
    })

  /** The index that an older Parley left: topics and threads, whole, in one part; with a word that is gone by now. */
  const indexAsBefore = (db: Db) =>
    db.tx(async (tx) => {
      if (dialect === 'postgres') {
        await tx.all(sql`
          INSERT INTO search_words (message_id, words)
          SELECT id, ('''note'':1B ''stale'':2B ''#topics1'' ''#thread' || thread_id || '''')::tsvector FROM messages`)
        await tx.all(sql`DELETE FROM search_pending`)
        return
      }
      await tx.all(sql`
        CREATE VIRTUAL TABLE search_1
        USING fts5(subject, body, sender, thread, scope, content='', tokenize='ascii')`)
      await tx.all(sql`
        INSERT INTO search_1 (rowid, subject, body, sender, thread, scope)
        SELECT id, 'general', body || ' stale', 'alice', 'old general', 'thread' || thread_id || ' topics1' FROM messages`)
      await tx.all(sql`INSERT INTO search_parts (part, last_id, words) SELECT 1, MAX(id), 1050 FROM messages`)
    })

  if (dialect === 'sqlite')
    test('knows the scopes that all messages of a part are in', async () => {
      const hub = await connectHub(await open())
      const shared = async () => {
        await catchUp(hub)
        return (await hub[inside].db.all<{ scopes: string }>(sql`SELECT scopes FROM search_parts`))[0]?.scopes
      }
      await writeMessages(hub, notes(70))
      expect(await shared()).toMatch(/^thread\d+ project(\d+) topics\1$/)
      await writeMessages(hub, [{ body: 'elsewhere', topic: 'other' }])
      expect(await shared()).toMatch(/^project(\d+) topics\1$/)
      await writeMessages(hub, [{ body: 'note by mail', mail: {} }])
      expect(await shared()).toMatch(/^project\d+$/)
      expect(await find(hub, 'note')).toHaveLength(70)
      await writeMessages(hub, [{ body: 'note', project: '/srv/beta' }])
      expect(await shared()).toBe('')
      expect(await find(hub, 'note')).toHaveLength(70)
      await hub.close()
    })

  test('has what another connection has just committed', async () => {
    const database = await open()
    const [here, there] = [await connectHub(database), await connectHub(database)]
    for (let n = 0; n < 10; n++) {
      await writeMessages(there, [{ body: `news number${n}` }])
      expect(await find(here, `number${n}`)).toEqual([`news number${n}`])
    }
    expect(await find(there, 'news')).toHaveLength(10)
    await here.close()
  })

  test('holds each message once, however many fill it while others write', async () => {
    const database = await open()
    const hubs = [await connectHub(database), await connectHub(database), await connectHub(database)] as const
    await writeMessages(hubs[0], notes(300))
    await Promise.all([
      writeMessages(hubs[0], notes(60, 300)),
      writeMessages(
        hubs[1],
        notes(60, 360).map((note) => ({ ...note, topic: 'other' })),
      ),
      ...hubs.flatMap((hub) => [catchUp(hub), catchUp(hub), find(hub, 'note'), find(hub, 'number7')]),
    ])
    expect(await find(hubs[2], 'number419')).toEqual(['note number419'])
    expect(await contents(hubs[2])).toEqual({ messages: 420, notes: 420 })
    for (const hub of hubs.slice(1)) await hub.close()
  })

  test('is filled by several at once where there is much to do, while others write', async () => {
    const database = await open()
    const hubs = [await connectHub(database), await connectHub(database)] as const
    await writeMessages(hubs[0], notes(1500))
    await Promise.all([
      writeMessages(hubs[0], notes(60, 1500)),
      ...hubs.flatMap((hub) => [catchUp(hub), find(hub, 'number1234')]),
    ])
    expect(await find(hubs[1], 'number1559')).toEqual(['note number1559'])
    expect(await contents(hubs[1])).toEqual({ messages: 1560, notes: 1560 })
    await hubs[1].close()
  })

  test('goes on where somebody left off, or was stopped in the middle of a step', async () => {
    const database = await open()
    const gone = await connectHub(database)
    await writeMessages(gone, notes(500))
    await gone[inside].db.tx(indexNext)
    const stopped = gone[inside].db.tx(async (tx) => {
      await indexNext(tx)
      throw new Error('stopped')
    })
    await expect(stopped).rejects.toThrow('stopped')
    await gone.close()

    const hub = await connectHub(database)
    expect(await countUnindexed(hub[inside].db, 500)).toBeGreaterThan(0)
    expect(await find(hub, 'number0 OR number250 OR number499')).toHaveLength(3)
    expect(await contents(hub)).toEqual({ messages: 500, notes: 500 })
  })

  test('has what was there before it', async () => {
    const db = await (await open({ empty: true })).connect()
    await migrate(db, migrations.slice(0, 2), new TestClock())
    await writeOldMessages(
      db,
      notes(3).map(({ body }) => body),
    )
    await migrate(db, migrations, new TestClock())
    expect(await find(await openTestHub(db), 'note')).toHaveLength(3)
  })

  verifies(
    'mail.search.rebuilt',
    'is made anew from one that knew no mail, and each message is in it once',
    async () => {
      const db = await (await open({ empty: true })).connect()
      await migrate(db, migrations.slice(0, 3), new TestClock())
      await writeOldMessages(
        db,
        notes(150).map(({ body }) => body),
      )
      await indexAsBefore(db)
      await migrate(db, migrations, new TestClock())
      const hub = await openTestHub(db)
      const found = await search(hub, await inProject(hub), { query: 'number0 OR number149' })
      expect(found.map(({ snippet, threadKey }) => [snippet.text, threadKey])).toEqual([
        ['note number149', 'old'],
        ['note number0', 'old'],
      ])
      expect(await find(hub, 'number77')).toEqual(['note number77'])
      expect(await find(hub, 'stale')).toEqual([])
      expect(await contents(hub)).toEqual({ messages: 150, notes: 150 })
    },
  )

  test('can be made anew while others search and write', async () => {
    const database = await open()
    const [hub, other] = [await connectHub(database), await connectHub(database)]
    await writeMessages(hub, notes(200))
    await catchUp(hub)
    await Promise.all([
      rebuildSearch(hub),
      writeMessages(other, notes(50, 200)),
      ...Array.from({ length: 5 }, async () => find(other, 'note')),
    ])
    expect(await find(other, 'number0 OR number199 OR number249')).toHaveLength(3)
    expect(await contents(hub)).toEqual({ messages: 250, notes: 250 })
    await other.close()
  })

  test('stays whole when it grows beyond one part', async () => {
    const hub = await connectHub(await open())
    // Enough for a second part in SQLite; PostgreSQL has one index, which takes its time for each word.
    const filler = 'lorem ipsum dolor sit amet '.repeat(dialect === 'sqlite' ? 2400 : 240)
    await writeMessages(
      hub,
      notes(100).map(({ body }) => ({ body: `${body} ${filler}` })),
    )
    expect(await find(hub, 'number0 OR number99')).toHaveLength(2)
    expect((await find(hub, 'note'))[0]).toMatch(/^note number99 /)
    if (dialect === 'sqlite')
      expect(await hub[inside].db.all(sql`SELECT COUNT(*) AS n FROM search_parts`)).toEqual([{ n: 2 }])
    const asked = { query: phrase('note'), scope: await inTopics(hub) }
    const pieces: Finding[] = [await listFound(hub[inside].db, asked, { limit: 200, ms: 0 })]
    for (let last = pieces[0]; last?.rest !== undefined; last = pieces.at(-1))
      pieces.push(await listFound(hub[inside].db, asked, { limit: 200, ms: 0, ...last }))
    expect(pieces).toHaveLength(dialect === 'sqlite' ? 2 : 1)
    const whole = await listFound(hub[inside].db, asked, { limit: 200, ms: 60_000 })
    expect(pieces.at(-1)).toEqual(whole)
    expect(whole.ids).toHaveLength(100)
    expect(whole.ids).toEqual(whole.ids.toSorted((a, b) => b - a))
    await rebuildSearch(hub)
    expect(await find(hub, 'number0 OR number99')).toHaveLength(2)
    expect(await contents(hub)).toEqual({ messages: 100, notes: 100 })
    if (dialect === 'sqlite')
      expect(await hub[inside].db.all(sql`SELECT merged FROM search_parts ORDER BY part`)).toEqual([
        { merged: 1 },
        { merged: 0 },
      ])
  })

  verifies('mail.search.fill-turns', 'lets sends in between its steps while much is filled', async () => {
    const hub = await connectHub(await open())
    await writeMessages(hub, notes(1500))
    let filled = false
    const filling = catchUp(hub).then(() => {
      filled = true
    })
    let sent = 0
    for (; !filled; sent++) await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'note' })
    await filling
    // Some 47 steps on SQLite; eight on PostgreSQL, where they hold up nobody.
    expect(sent).toBeGreaterThan(dialect === 'sqlite' ? 40 : 0)
    expect(await find(hub, 'number0 OR number1499')).toHaveLength(2)
  })

  test('is filled in the background after a commit, and left in peace otherwise', async () => {
    const hub = await connectHub(await open())
    // One of its own: the hub sets timers for other reasons too.
    const clock = new TestClock()
    const stop = keepSearchable({ ...hub, clock })
    const indexed = async () => (await countUnindexed(hub[inside].db, await findNewest(hub[inside].db))) === 0
    await writeMessages(hub, notes(450))
    for (let turn = 0; turn < 20; turn++) {
      await expect.poll(() => clock.pending > 0 || indexed()).toBe(true)
      clock.advance(1000)
    }
    await expect.poll(indexed).toBe(true)
    expect(await contents(hub)).toEqual({ messages: 450, notes: 450 })
    await expect.poll(() => clock.pending).toBe(0)

    await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'note' })
    expect(clock.pending).toBe(1)
    expect(await indexed()).toBe(false)
    clock.advance(1000)
    await expect.poll(indexed).toBe(true)

    await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'note' })
    await stop()
    expect(clock.pending).toBe(0)
    await send(hub, as('alice'), { to: [{ name: 'bob' }], body: 'note' })
    expect(clock.pending).toBe(0)
    expect(await indexed()).toBe(false)
  })
})
