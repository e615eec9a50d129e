/** Leases in time, on both engines: how they end, last longer, are put away and listed. */

import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as } from '../../../test/support/hub.ts'
import { ann, bob, cid, openLeases, project } from '../../../test/support/leases.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { actAs } from '../agents/acting.ts'
import { inside } from '../hub/hub.ts'
import { haveOverlappingLeases, listExpiring, listLeases, release, renew, sweepLeases } from './leases.ts'

eachEngine('Leases in time', (open) => {
  verifies('mail.lease.expired', 'are free once the clock says so, for every reader', async () => {
    const { hub, other, clock, ask, active, stored, close } = await openLeases(open)
    await ask(ann, ['src/**'], { ttlMs: 1000 })
    const [{ id: annId }, { id: bobId }] = [await actAs(hub, ann), await actAs(hub, bob)]
    clock.advance(999)
    expect((await ask(bob, ['src/a.ts'], { onConflict: 'refuse' })).granted).toEqual([])
    expect(await active(other)).toEqual(['ann src/**'])
    clock.advance(1)
    expect(await active(other)).toEqual([])
    expect((await listExpiring(hub, local, project, { withinMs: 1e9, limit: 10 })).leases).toEqual([])
    expect((await listLeases(hub, local, project, { activeOnly: false, limit: 10 })).leases).toMatchObject([
      { agent: 'ann', releasedAt: undefined },
    ])
    expect(await release(hub, ann, {})).toMatchObject({ released: 0 })
    expect(await renew(hub, ann, { byMs: 1000 })).toEqual([])
    expect(await ask(bob, ['src/a.ts'], { onConflict: 'refuse' })).toMatchObject({
      granted: ['src/a.ts'],
      conflicts: [],
    })
    expect(await haveOverlappingLeases(hub[inside].db, annId, bobId, clock.now())).toBe(false)
    expect(await stored()).toEqual(['src/**', 'src/a.ts'])
    await close()
  })

  verifies('mail.lease.expired', 'are free also where more have expired than are put away at once', async () => {
    const { hub, clock, ask, close } = await openLeases(open)
    await ask(
      ann,
      Array.from({ length: 400 }, (_, n) => `old/${n}`),
      { ttlMs: 1000 },
    )
    const { ids } = await ask(ann, ['old/last'], { ttlMs: 1001 })
    clock.advance(1001)
    expect(await ask(bob, ['old/**'], { onConflict: 'refuse' })).toMatchObject({ granted: ['old/**'], conflicts: [] })
    expect((await ask(ann, ['old/last'])).ids).not.toEqual(ids)
    expect(
      await hub[inside].db.all(sql`SELECT id FROM leases WHERE released_at IS NULL AND id = ${ids[0]}`),
    ).toHaveLength(1)
    await close()
  })

  verifies('mail.lease.again', 'reserved again are the same lease for longer, never for shorter', async () => {
    const { hub, clock, ask, stored, close } = await openLeases(open)
    const first = await ask(ann, ['src/**', './src//**'], { reason: 'one' })
    expect(first.granted).toEqual(['src/**'])
    clock.advance(1000)
    expect(await ask(ann, ['./src/**'], { ttlMs: 5000 })).toMatchObject({
      ids: first.ids,
      expiresAt: first.expiresAt,
    })
    const longer = await ask(ann, ['/srv/code/app/src/**'], { ttlMs: 9_000_000, reason: 'two' })
    expect(longer).toMatchObject({ ids: first.ids, expiresAt: clock.now() + 9_000_000 })
    expect(await stored()).toEqual(['src/**'])
    expect((await listLeases(hub, local, project, { activeOnly: true, limit: 1 })).leases).toMatchObject([
      { reason: 'two' },
    ])
    // Another kind is another lease; so is one after the end of the first, and that of another agent.
    expect((await ask(ann, ['src/**'], { exclusive: false })).ids).not.toEqual(first.ids)
    clock.advance(9_000_000)
    expect((await ask(ann, ['src/**'])).ids).not.toEqual(first.ids)
    expect(await stored()).toHaveLength(3)
    await close()
  })

  verifies('mail.lease.release', 'are released by pattern, by id or all at once, and only the own', async () => {
    const { hub, clock, ask, active, close } = await openLeases(open)
    const { ids } = await ask(ann, ['a', 'b', 'c', 'd', 'e'])
    const mine = await ask(bob, ['x', 'a'])
    expect(await release(hub, ann, { patterns: ['./a/'], ids: [ids[1] ?? 0, mine.ids[0] ?? 0, 999] })).toEqual({
      released: 2,
      releasedAt: clock.now(),
      held: [],
      more: false,
    })
    expect(await active()).toEqual(['bob a', 'bob x', 'ann e', 'ann d', 'ann c'])
    expect(await release(hub, ann, { patterns: [], ids: [] })).toMatchObject({ released: 0 })
    expect(await release(hub, ann, { patterns: ['**'] })).toMatchObject({
      released: 0,
      held: [{ pattern: 'c' }, { pattern: 'd' }, { pattern: 'e' }],
      more: false,
    })
    expect(await release(hub, ann, { ids: [ids[2] ?? 0] })).toMatchObject({ released: 1 })
    expect(await release(hub, ann, {})).toMatchObject({ released: 2 })
    expect(await release(hub, ann, {})).toMatchObject({ released: 0 })
    expect(await active()).toEqual(['bob a', 'bob x'])
    expect((await ask(cid, ['a'], { onConflict: 'refuse' })).conflicts).toEqual([['a', ['bob']]])
    await close()
  })

  verifies('mail.lease.renew', 'are renewed on top of the time that is left', async () => {
    const { hub, clock, ask, close } = await openLeases(open)
    const begin = clock.now()
    const { ids } = await ask(ann, ['a', 'b', 'c'])
    await ask(bob, ['x'])
    clock.advance(600_000)
    expect(await renew(hub, ann, { patterns: ['a'], ids: [ids[2] ?? 0], byMs: 1_800_000 })).toMatchObject([
      { id: ids[0], agent: 'ann', pattern: 'a', exclusive: true, expiresAt: begin + 5_400_000 },
      { id: ids[2], pattern: 'c', expiresAt: begin + 5_400_000 },
    ])
    // At most thirty days from now.
    const latest = clock.now() + 30 * 86_400_000
    expect(await renew(hub, ann, { byMs: Number.MAX_SAFE_INTEGER })).toMatchObject(
      ids.map((id) => ({ id, expiresAt: latest })),
    )
    clock.advance(3_600_000)
    expect(await renew(hub, bob, { byMs: 1000 })).toEqual([])
    await close()
  })

  verifies('mail.lease.bad-glob', 'of which one pattern is bad are not made, released or renewed', async () => {
    const { hub, ask, active, close } = await openLeases(open)
    await ask(ann, ['src/**'])
    const error = { code: 'INVALID_ARGUMENT', message: expect.stringContaining('The pattern "src/{a" has a "{"') }
    await expect(ask(ann, ['docs/**', 'src/{a'])).rejects.toMatchObject(error)
    await expect(release(hub, ann, { patterns: ['src/**', 'src/{a'] })).rejects.toMatchObject(error)
    await expect(renew(hub, ann, { patterns: ['src/**', 'src/{a'], byMs: 1000 })).rejects.toMatchObject(error)
    await expect(ask(ann, ['/srv/code/apps/x'])).rejects.toMatchObject({ message: expect.stringMatching(/relative/) })
    expect(await active()).toEqual(['ann src/**'])
    await close()
  })

  verifies('mail.lease.sweep', 'that have expired are swept in batches, as of when they expired', async () => {
    const { hub, clock, ask, active, close } = await openLeases(open)
    await ask(ann, ['a', 'b', 'c'], { ttlMs: 1000 })
    const { expiresAt } = await ask(ann, ['d'], { ttlMs: 1500 })
    await ask(bob, ['e'])
    clock.advance(2000)
    expect([await sweepLeases(hub, 3), await sweepLeases(hub, 3), await sweepLeases(hub, 3)]).toEqual([3, 1, 0])
    const { leases } = await listLeases(hub, local, project, { activeOnly: false, limit: 2, before: undefined })
    expect(leases).toMatchObject([
      { pattern: 'e', releasedAt: undefined },
      { pattern: 'd', releasedAt: expiresAt },
    ])
    expect(await active()).toEqual(['bob e'])
    await close()
  })

  test('that have expired do not pile up where agents go on reserving', async () => {
    const { hub, clock, ask, close } = await openLeases(open)
    await ask(ann, ['a', 'b', 'c'], { ttlMs: 1000 })
    clock.advance(1000)
    await ask(bob, ['z'])
    expect(await hub[inside].db.all(sql`SELECT pattern FROM leases WHERE released_at IS NULL`)).toEqual([
      { pattern: 'z' },
    ])
    await close()
  })

  verifies('mail.lease.meeting', 'of two agents that overlap, shared or not, show that they meet', async () => {
    const { hub, clock, ask, close } = await openLeases(open)
    const [a, b] = [await actAs(hub, ann), await actAs(hub, bob)]
    const meet = async (one = a.id, other = b.id) => haveOverlappingLeases(hub[inside].db, one, other, clock.now())
    expect(await meet()).toBe(false)
    await ask(ann, ['src/api', 'docs/*.md'], { exclusive: false })
    expect(await meet()).toBe(false)
    await ask(bob, ['src/*.ts', 'docs/a/b.md'], { exclusive: false })
    expect(await meet()).toBe(false)
    await ask(bob, ['**/users.ts'], { exclusive: false })
    expect([await meet(), await meet(b.id, a.id)]).toEqual([true, true])
    const elsewhere = as('bob', '/srv/code/other')
    await ask(elsewhere, ['**'])
    expect(await meet(a.id, (await actAs(hub, elsewhere)).id)).toBe(false)
    await close()
  })

  test('are listed the newest first, page by page, and by when they end', async () => {
    const { hub, clock, ask, close } = await openLeases(open)
    await ask(ann, ['a'], { ttlMs: 600_000 })
    await ask(ann, ['b'], { ttlMs: 60_000 })
    const { ids } = await ask(ann, ['c'], { ttlMs: 300_000 })
    await release(hub, ann, { ids })
    await ask(bob, ['d'], { ttlMs: 300_000, reason: 'why' })
    const list = async (activeOnly: boolean, limit: number, before?: number) => {
      const { leases, hasMore } = await listLeases(hub, local, project, { activeOnly, limit, before })
      return [leases.map(({ pattern }) => pattern).join(' '), hasMore, leases.at(-1)?.id] as const
    }
    const [first, more, last] = await list(false, 2)
    expect([first, more]).toEqual(['d c', true])
    expect((await list(false, 2, last)).slice(0, 2)).toEqual(['b a', false])
    expect((await list(true, 9)).slice(0, 2)).toEqual(['d b a', false])
    const soon = async (withinMs: number) =>
      (await listExpiring(hub, local, project, { withinMs, limit: 9 })).leases.map(({ pattern }) => pattern)
    expect(await soon(300_000)).toEqual(['b', 'd'])
    expect(await soon(59_999)).toEqual([])
    clock.advance(60_000)
    expect(await soon(600_000)).toEqual(['d', 'a'])
    await expect(listLeases(hub, local, 'nowhere', { activeOnly: true, limit: 1 })).rejects.toMatchObject({
      code: 'PROJECT_NOT_FOUND',
    })
    await close()
  })
})
