/** Boards, leases, contacts, attachments, activity and search, as people see them; on both engines. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { catchUp } from '../../../test/support/feed.ts'
import { registered } from '../../../test/support/hub.ts'
import { asked } from '../../../test/support/leases.ts'
import { back, front, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local, operator } from '../access/callers.ts'
import { requestContact } from '../contact-requests/requests.ts'
import { release, reserve } from '../leases/leases.ts'
import { markRead } from '../mail/receipts.ts'
import { readActivity } from './activity.ts'
import { countingOf } from './activity-counts.ts'
import { listAttached, readAttachment } from './attachments.ts'
import { listProjectContacts } from './contacts.ts'
import { countAttention, listAttention } from './late-mail.ts'
import { listPageLeases } from './leases.ts'
import { overviewProject } from './projects.ts'
import { type SearchWish, searchMail } from './search.ts'

/** On a PostgreSQL that other tests use too, their transactions may be open for long. */

eachEngine('Boards', (open) => {
  verifies('web.attention.boards', 'count messages, as their lists have them, whoever is late', async () => {
    const { hub, write } = await openPages(open)
    for (let n = 0; n < 2; n++)
      await write('Ann', [{ name: 'Bob' }, { name: 'Cleo' }], { ackRequired: true, importance: 'urgent' })
    const { items } = await listAttention(hub, operator, { view: 'urgent', limit: 50 })
    expect(items).toHaveLength(2)
    for (const project of [undefined, back])
      expect(await countAttention(hub, operator, { project })).toMatchObject({ urgent: 2, ackRequired: 2 })
    await hub.close()
  })

  verifies('web.attention.boards', 'what is late, with counts, over all projects or in one', async () => {
    const { hub, write, clock } = await openPages(open)
    const plain = await write('Ann', [{ name: 'Bob' }])
    const urgent = await write('Ann', [{ name: 'Bob' }, { name: 'Cleo' }], { importance: 'urgent' })
    const ack = await write('Dora', [{ name: 'Bob' }], { ackRequired: true }, front)
    await markRead(hub, registered('Cleo', back), urgent)
    await markRead(hub, registered('Bob', front), ack)
    const board = async (view: Parameters<typeof listAttention>[2]['view'], more: object = {}) =>
      (await listAttention(hub, operator, { view, limit: 50, ...more })).items.map(({ id, late }) => [
        id,
        late.map(({ name }) => name),
      ])
    expect(await countAttention(hub, operator)).toMatchObject({ unread: 0, urgent: 1, ackRequired: 1, ackOverdue: 0 })
    clock.advance(3_600_000)
    const young = await write('Ann', [{ name: 'Bob' }])
    expect(await countAttention(hub, operator)).toMatchObject({ unread: 2, urgent: 1, ackRequired: 1, ackOverdue: 1 })
    expect(await countAttention(hub, operator, { project: front })).toMatchObject({
      unread: 0,
      urgent: 0,
      ackRequired: 1,
      ackOverdue: 1,
    })
    expect(await board('unread')).toEqual([
      [urgent, ['Bob']],
      [plain, ['Bob']],
    ])
    expect(await board('unread', { project: back, before: urgent })).toEqual([[plain, ['Bob']]])
    expect(await board('urgent')).toEqual([[urgent, ['Bob']]])
    expect(await board('ack-required')).toEqual([[ack, ['Bob']]])
    expect(await board('ack-overdue', { project: back })).toEqual([])
    expect((await listAttention(hub, operator, { view: 'unread', limit: 1 })).next).toBe(urgent)
    expect(young).toBeGreaterThan(ack)
    await hub.close()
  })

  verifies('web.leases.listed', 'leases in words, with their conflicts', async () => {
    const { hub, clock } = await openPages(open)
    const hold = (name: string, pattern: string, more: object = {}) =>
      reserve(hub, registered(name, back), { ...asked, patterns: [pattern], ...more })
    await hold('Ann', 'old/**', { ttlMs: 1000 })
    clock.advance(2000)
    await hold('Ann', 'src/**')
    await hold('Bob', 'src/a.ts')
    await hold('Cleo', 'docs/**')
    await release(hub, registered('Cleo', back), {})
    const list = async (more: object = {}) =>
      (await listPageLeases(hub, operator, back, { limit: 50, ...more })).items.map(
        ({ agent, pattern, state, conflicts }) => [agent, pattern, state, conflicts.map(({ agent }) => agent)],
      )
    expect(await list()).toEqual([
      ['Cleo', 'docs/**', 'released', []],
      ['Bob', 'src/a.ts', 'active', ['Ann']],
      ['Ann', 'src/**', 'active', ['Bob']],
      ['Ann', 'old/**', 'expired', []],
    ])
    expect(await list({ state: 'active', agent: 'ann' })).toEqual([['Ann', 'src/**', 'active', ['Bob']]])
    expect(await list({ agent: 'Ann', limit: 1 })).toEqual([['Ann', 'src/**', 'active', ['Bob']]])
    await hub.close()
  })

  verifies('web.contacts.listed', 'pending ones first', async () => {
    const { hub, keyed } = await openPages(open)
    await requestContact(hub, registered('Dora', front), { to: { name: 'Ann', project: back }, reason: 'api' })
    const { contacts, policies } = await listProjectContacts(hub, operator, back)
    expect(contacts).toMatchObject([{ from: { name: 'Dora' }, to: { name: 'Ann' }, status: 'pending', reason: 'api' }])
    expect(policies.map(({ name, policy }) => `${name} ${policy}`).sort()).toEqual([
      'Ann open',
      'Bob open',
      'Cleo open',
    ])
    expect((await listProjectContacts(hub, await keyed('Bob'), back)).contacts).toEqual([])
    await hub.close()
  })

  verifies('web.attachments.read', 'by those who see the message', async () => {
    const { hub, write, keyed } = await openPages(open)
    const data = `data:text/plain;base64,${Buffer.from('hello file').toString('base64')}`
    const id = await write('Ann', [{ name: 'Bob' }], { enclosing: { paths: [data], convert: undefined } as never })
    await write('Ann', [{ name: 'Bob' }])
    const page = await listAttached(hub, operator, back, { limit: 50 })
    expect(page.items.map((one) => one.id)).toEqual([id])
    const [file] = page.items[0]?.attachments ?? []
    const path = file?.kind === 'file' ? file.path : ''
    const read = async (caller: typeof local) => {
      const chunks: Uint8Array[] = []
      for await (const part of (await readAttachment(hub, caller, back, path)).parts) chunks.push(part)
      return Buffer.concat(chunks).toString()
    }
    expect(await read(operator)).toBe('hello file')
    expect(await read(local)).toBe('hello file')
    const [ann, cleo] = [await keyed('Ann'), await keyed('Cleo')]
    await keyed('Bob')
    expect(await read(ann)).toBe('hello file')
    expect(await read(operator)).toBe('hello file')
    for (const caller of [cleo, local]) await expect(read(caller)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(readAttachment(hub, operator, back, 'attachments/../x')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await hub.close()
  })

  verifies('web.activity.counts', 'exact before and after they are counted, also from nothing', async () => {
    const { hub, write, say, clock } = await openPages(open)
    await write('Ann', [{ name: 'Bob' }, { name: 'Cleo', kind: 'bcc' }])
    clock.advance(3_600_000)
    await write('Ann', [{ name: 'Bob' }])
    await write('Ann', [{ name: 'Dora', project: front }])
    await say('Cleo', 'hello')
    const sums = async (window: '1h' | '24h' | '30d', project = back) => {
      const { buckets, edges, lanes } = await readActivity(hub, operator, project, { window })
      const sum = (list: readonly number[]) => list.reduce((total, one) => total + one, 0)
      return {
        all: sum(buckets.map(({ count }) => count)),
        lanes: lanes.map(({ agent, buckets }) => `${agent} ${sum(buckets)}`),
        edges: edges.map(({ from, to, count }) => `${from} ${to.replace(/-\w{6}$/, '')} ${count}`),
      }
    }
    const count = async () => (await overviewProject(hub, operator, back)).counts.messages
    const everywhere = async () => [await count(), (await sums('30d')).all, (await sums('30d', front)).all]
    const day = { all: 4, lanes: ['Ann 3', 'Cleo 1'], edges: ['Ann Bob 2', 'Ann Dora@shop-frontend 1'] }
    // Nothing is counted yet, then everything, then a part.
    expect(await sums('24h')).toEqual(day)
    expect(await everywhere()).toEqual([4, 4, 1])
    await catchUp(hub, countingOf(hub))
    expect(await sums('24h')).toEqual(day)
    expect(await sums('1h')).toMatchObject({ all: 3, edges: ['Ann Bob 1', 'Ann Dora@shop-frontend 1'] })
    expect(await everywhere()).toEqual([4, 4, 1])
    await write('Bob', [{ name: 'Dora', project: front }])
    expect(await everywhere()).toEqual([5, 5, 2])
    await catchUp(hub, countingOf(hub))
    expect(await everywhere()).toEqual([5, 5, 2])
    await hub.close()
  })

  verifies('web.search.filters', 'words and filters, in one project or in all', async () => {
    const { hub, write, say, clock } = await openPages(open)
    const login = await write('Ann', [{ name: 'Bob' }], { subject: 'Login page', body: 'the form is broken' })
    const form = await write(
      'Dora',
      [{ name: 'Bob' }],
      { subject: 'Form', body: 'login login login', importance: 'high' },
      front,
    )
    clock.advance(86_400_000 * 40)
    const across = await write('Ann', [{ name: 'Dora', project: front }], { body: 'login again' })
    await say('Cleo', 'login in the topic')
    const find = async (query: string, more: Partial<SearchWish> = {}) =>
      (await searchMail(hub, operator, { query, limit: 50, ...more })).results.map(({ id }) => id)
    const all = await find('login', { order: 'time' })
    const said = all[0] ?? 0
    expect(all).toEqual([said, across, form, login])
    expect(await find('login', { project: front, order: 'time' })).toEqual([across, form])
    expect(await find('login project:shop-frontend', { order: 'time' })).toEqual([across, form])
    expect(await find('login to:Dora')).toEqual([across])
    expect(await find('login', { to: 'Bob@shop-backend' })).toEqual([login])
    expect(await find('login', { scope: 'subject' })).toEqual([login])
    expect(await find('login', { scope: 'body', from: 'Dora' })).toEqual([form])
    expect(await find('from:ann login', { order: 'time' })).toEqual([across, login])
    expect(await find('login', { importance: 'high' })).toEqual([form])
    expect(await find('login', { until: hub.clock.now() - 86_400_000, order: 'time' })).toEqual([form, login])
    expect(await find('login', { since: hub.clock.now() - 86_400_000, unread: true })).toEqual([across])
    expect(await find('', { importance: 'high' })).toEqual([form])
    expect(await find('', {})).toEqual([])
    expect([(await find('login'))[0], (await find('login', { boost: true }))[0]]).toEqual([form, login])
    await expect(find('x project:nowhere')).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    const first = await searchMail(hub, operator, { query: 'login', order: 'time', limit: 3 })
    expect(first).toMatchObject({ next: 2, total: 4 })
    expect(await find('login', { order: 'time', limit: 3, page: 2 })).toEqual([login])
    await hub.close()
  })

  verifies('web.search.facets', 'counts and parts of the query', async () => {
    const { hub, write } = await openPages(open)
    await write('Ann', [{ name: 'Bob' }], { body: 'login one', importance: 'urgent' })
    await write('Ann', [{ name: 'Bob' }], { body: 'login two' })
    await write('Dora', [{ name: 'Bob' }], { body: 'login three' }, front)
    const { facets, tokens, results } = await searchMail(hub, operator, {
      query: 'login -four OR "x y" to:Bob',
      limit: 50,
    })
    expect(facets.project.map(({ value, count }) => [value.replace(/-\w{6}$/, ''), count])).toEqual([
      ['shop-backend', 2],
      ['shop-frontend', 1],
    ])
    expect(facets.sender.map(({ value, count }) => [value.replace(/-\w{6}$/, ''), count])).toEqual([
      ['Ann@shop-backend', 2],
      ['Dora@shop-frontend', 1],
    ])
    expect(facets.importance).toEqual([
      { value: 'normal', count: 2 },
      { value: 'urgent', count: 1 },
    ])
    expect(facets.month).toEqual([{ value: '2026-01', count: 3 }])
    expect(tokens).toEqual([
      { text: 'login', without: '-four OR "x y" to:Bob' },
      { text: '-four', without: 'login OR "x y" to:Bob' },
      { text: '"x y"', without: 'login -four to:Bob' },
      { text: 'to:Bob', without: 'login -four OR "x y"' },
    ])
    expect(results[0]?.snippet.matches).toEqual([[0, 5]])
    await hub.close()
  })

  verifies('web.search.sealed', 'nothing is found by words that one may not see', async () => {
    const { hub, write, keyed } = await openPages(open)
    await write('Ann', [{ name: 'Bob' }], { body: 'pineapple' })
    const [ann, cleo] = [await keyed('Ann'), await keyed('Cleo')]
    await keyed('Bob')
    const find = async (caller: typeof local) => (await searchMail(hub, caller, { query: 'pineapple', limit: 5 })).total
    expect([await find(operator), await find(ann), await find(local), await find(cleo)]).toEqual([1, 1, 0, 0])
    await hub.close()
  })
})
