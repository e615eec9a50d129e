/** Searches without words among more messages than one look goes through. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { dbOf } from '../../../test/support/feed.ts'
import { back, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { operator } from '../access/callers.ts'
import { pageSight } from '../access/rules.ts'
import { search } from '../search/search.ts'
import { searchMail } from './search.ts'

const many = 12_000

eachEngine('A search without words', (open) => {
  verifies('web.search.far', 'finds what was sent long ago, and says where it did not look at all', async () => {
    const { hub, clock, write } = await openPages(open)
    const oldest = await write('Ann', [{ name: 'Bob' }], { subject: 'The first', importance: 'high' })
    const began = clock.now()
    // One a minute, written behind the hub's back.
    await dbOf(hub).tx(async (tx) => {
      await tx.all(sql`
        INSERT INTO messages (id, uid, thread_id, seq, sender_id, subject, body, created_at)
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
        SELECT m.id + i, 'm' || i, m.thread_id, m.seq + i, m.sender_id, 'Later', 'text', m.created_at + i * 60000 FROM n, messages m
        WHERE m.id = ${oldest}`)
    })
    clock.set(began + many * 60_000)
    const ask = (query: string, more: object = {}) => searchMail(hub, operator, { query, limit: 5, ...more })

    const hour = await ask('', { since: began + 3_600_000, until: began + 7_200_000 })
    expect(hour).toMatchObject({ total: 61, capped: false, note: undefined })
    expect(hour.results.map(({ id }) => id - oldest)).toEqual([120, 119, 118, 117, 116])
    expect(await ask('', { until: began })).toMatchObject({ total: 1, results: [{ id: oldest }], note: undefined })

    const sealed = await ask('is:sealed')
    expect(sealed).toMatchObject({ total: 0, capped: true })
    expect(sealed.note).toMatch(/^Only 10,000 messages were looked through\./)
    expect(await ask('importance:high')).toMatchObject({ total: 1, capped: false, note: undefined })
    const { note } = await search(hub, { pages: pageSight(operator), projectId: undefined }, { query: 'is:sealed' })
    expect(note).toMatch(/^Only 10,000/)
    expect(await ask('is:sealed', { project: back, from: 'Cleo' })).toMatchObject({ total: 0, capped: false })
    await hub.close()
  })
})
