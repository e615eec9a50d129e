/** One sight: whatever is in the projects and whoever looks, every way to read agrees with a plain model. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { ArchiveView } from '../../src/archive/view.ts'
import { eachEngine } from '../support/engines.ts'
import { openTestHub, usualRules } from '../support/hub.ts'
import { verifies } from '../support/verifies.ts'
import { ways } from './sight-ways.ts'
import { build, plans } from './sight-world.ts'

/** An archive in which every message has a commit, and nothing else has one. */
const archive: ArchiveView = {
  find: (_slug, noun, ids) => new Map(noun === 'messages' ? ids.map((id) => [id, `sha-${id}`]) : []),
  describe: async (_slug, shas) => [...new Set(shas)].map((sha) => ({ sha, at: 0, summary: '', author: '' })),
}
const sorted = (list: readonly unknown[]): string[] => list.map((one) => JSON.stringify(one)).sort()
const rules = { contacts: { ...usualRules.contacts, enforced: false } }

eachEngine('Sight', (open, dialect) => {
  verifies(
    'access.sight.one',
    'every way to read agrees with the model, for every kind of caller',
    async () => {
      const run = fc.asyncProperty(plans, async (plan) => {
        const database = await open()
        const hub = await openTestHub(await database.connect(), { archive, rules })
        try {
          const world = await build(hub, plan)
          const wrong: object[] = []
          for (const who of world.callers)
            for (const [name, way] of Object.entries(ways)) {
              const [found, expected] = [await way.found(world, who), way.expected(world, who)].map(sorted)
              if (!isDeepStrictEqual(found, expected)) wrong.push({ who: who.label, way: name, found, expected })
            }
          expect(wrong).toEqual([])
        } finally {
          await hub.close()
        }
      })
      // A project is some 3,000 questions, each a round trip to a server of PostgreSQL.
      await fc.assert(run, { numRuns: dialect === 'sqlite' ? 6 : 2, endOnFailure: true })
    },
    180_000,
  )
})
