/** Leases, on both engines: what conflicts, and who gets a path. */
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { as } from '../../../test/support/hub.ts'
import { ann, asked, bob, cid, openLeases } from '../../../test/support/leases.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { actAs } from '../agents/acting.ts'
import { reserve } from './leases.ts'

eachEngine('Leases', (open) => {
  verifies(
    ['mail.lease.conflicts', 'all.engines.alike'],
    'conflict unless both are shared, in either order, and are granted all the same',
    async () => {
      const { ask, active, close } = await openLeases(open)
      for (const [held, wanted, conflicts] of [
        [true, true, true],
        [true, false, true],
        [false, true, true],
        [false, false, false],
      ] as const) {
        const folder = `${held}-${wanted}`
        await ask(ann, [`${folder}/**`], { exclusive: held })
        expect(await ask(bob, [`${folder}/api/*.ts`], { exclusive: wanted })).toMatchObject({
          granted: [`${folder}/api/*.ts`],
          conflicts: conflicts ? [[`${folder}/api/*.ts`, ['ann']]] : [],
        })
        expect(await active()).toEqual(expect.arrayContaining([`bob ${folder}/api/*.ts`]))
      }
      await close()
    },
  )

  verifies('mail.lease.conflicts', 'of an agent itself never conflict, nor do those of another project', async () => {
    const { ask, close } = await openLeases(open)
    await ask(ann, ['src/**'])
    await ask(as('bob', '/srv/code/other'), ['src/**'])
    expect(await ask(ann, ['src/a.ts', 'src/*.ts', '**'])).toMatchObject({ conflicts: [] })
    await close()
  })

  verifies('mail.lease.conflicts', 'are found above, below and beside, and each with its holders', async () => {
    const { ask, close } = await openLeases(open)
    await ask(ann, ['**/*.ts', 'src/api', 'src/api/v1/users.ts', 'src/apis/x', 'src/api.old/x', 'src/apiary'])
    await ask(cid, ['src/api-b/**', 'docs/**', 'src/api/v1/*.ts', 'src/äpi/**'])
    const found = async (pattern: string) => (await ask(bob, [pattern], { onConflict: 'refuse' })).conflicts[0]?.[1]
    expect(await found('src/api/v1/users.ts')).toEqual(['ann', 'ann', 'ann', 'cid'])
    expect(await found('src/api/**')).toEqual(['ann', 'ann', 'ann', 'cid'])
    expect(await found('src/api-b/x.js')).toEqual(['cid'])
    expect(await found('src/äpi/x.js')).toEqual(['cid'])
    expect(await found('docs/a.md')).toEqual(['cid'])
    expect(await found('src/ap/x.js')).toBeUndefined()
    expect(await found('lib/**/*.js')).toBeUndefined()
    expect((await ask(bob, ['**'], { onConflict: 'refuse' })).conflicts[0]?.[1]).toHaveLength(10)
    await close()
  })

  test('that are many are told up to fifty, over as many pages as it takes', async () => {
    const { hub, ask, close } = await openLeases(open)
    await ask(
      ann,
      Array.from({ length: 420 }, (_, n) => `src/m${n}/*.${n < 360 ? 'js' : 'ts'}`),
    )
    const { conflicts } = await reserve(hub, bob, { ...asked, patterns: ['src/*/*.ts', '**/*.py', 'src/m419/**'] })
    expect(conflicts).toMatchObject([
      { pattern: 'src/*/*.ts', more: true },
      { pattern: 'src/m419/**', more: false, holders: [{ pattern: 'src/m419/*.ts' }] },
    ])
    expect(new Set(conflicts[0]?.holders.map(({ id }) => id)).size).toBe(50)
    await close()
  })

  verifies('mail.lease.refuse', 'that are refused leave nothing, and what is free is granted', async () => {
    const { ask, active, close } = await openLeases(open)
    await ask(ann, ['src/**'])
    expect(await ask(bob, ['src/a.ts', 'docs/**'], { onConflict: 'refuse' })).toMatchObject({
      granted: ['docs/**'],
      conflicts: [['src/a.ts', ['ann']]],
    })
    expect(await active()).toEqual(['bob docs/**', 'ann src/**'])
    await close()
  })

  verifies('mail.lease.refuse', 'that two agents want at once go to one of them', async () => {
    const { hub, other, ask, active, close } = await openLeases(open)
    for (const who of [ann, bob]) await actAs(hub, who)
    for (let round = 0; round < 20; round++) {
      const path = `round${round}`
      const both = await Promise.all([
        ask(ann, [`${path}/**`], { onConflict: 'refuse' }, hub),
        ask(bob, [`${path}/*/x.ts`], { onConflict: 'refuse' }, other),
      ])
      expect(both.map(({ granted }) => granted.length).sort()).toEqual([0, 1])
      expect(both.map(({ conflicts }) => conflicts.length).sort()).toEqual([0, 1])
    }
    expect(await active()).toHaveLength(20)
    await close()
  })

  verifies('mail.lease.conflicts', 'that two agents take at once are told to one of them at least', async () => {
    const { hub, other, ask, close } = await openLeases(open)
    for (const who of [ann, bob]) await actAs(hub, who)
    for (let round = 0; round < 20; round++) {
      const [one, two] = await Promise.all([
        ask(ann, [`round${round}/a`], {}, hub),
        ask(bob, [`round${round}`], {}, other),
      ])
      expect([one, two].flatMap(({ conflicts }) => conflicts)).toHaveLength(1)
    }
    await close()
  })
})
