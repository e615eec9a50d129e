/** The rules of access: every cell of the matrix, on both engines, and every verb that doors can reach in the matrix. */
import { beforeAll, describe, expect } from 'vitest'
import { HubError } from '../../src/base/errors.ts'
import { reader } from '../../src/core/hub/hub.ts'
import { findLastChange } from '../../src/store/feed/changes.ts'
import { eachEngine, type TestDatabase } from '../support/engines.ts'
import { openTestHub, standInRemoteTools } from '../support/hub.ts'
import { repositoryFiles, type Source } from '../support/sources.ts'
import { verbsInReach } from '../support/verbs.ts'
import { verifies } from '../support/verifies.ts'
import { type Case, cases, type Outcome, rows, type Verb } from './matrix.ts'
import { calls } from './verbs.ts'
import { createWorld, type Target } from './world.ts'

const outcomeOf = (call: Promise<unknown>): Promise<Outcome | string> =>
  call.then(
    (value) => (Array.isArray(value) && value.length === 0 ? 'nothing' : 'yes'),
    (error: unknown) => {
      if (error instanceof HubError) return error.code
      throw error
    },
  )

/** The verbs that take something away come last: after them the others find less, and a key shuts local callers out. */
const last: readonly Verb[] = [
  'take',
  'lookForConflicts',
  'release',
  'renameTopic',
  'deleteTopic',
  'revokeServerGrant',
  'createKey',
  'rotateKey',
  'revokeKeys',
]
const order: readonly Verb[] = [...(Object.keys(rows) as Verb[]).filter((verb) => !last.includes(verb)), ...last]

/** A caller that may only read leaves nothing in the feed, whichever verb it calls. */
const reading: readonly Case[] = ['itselfReading', 'readerKeyless', 'readerKeyed', 'auditor']

const titleOf = (of: Case): string =>
  `${cases[of]}: each verb does what its line says${reading.includes(of) ? ', and leaves nothing in the feed' : ''}`

eachEngine('Access', (open) => {
  let world: TestDatabase
  let targetOf: (of: Case) => Target
  beforeAll(async () => {
    world = await open({ lasting: true })
    const hub = await openTestHub(await world.connect(), { remoteTools: standInRemoteTools })
    targetOf = await createWorld(hub)
    await hub.close()
  })

  for (const of of Object.keys(cases) as Case[])
    verifies(
      reading.includes(of) ? ['access.verbs.matrix', 'access.roles.reads'] : 'access.verbs.matrix',
      titleOf(of),
      async () => {
        const database = await open({ like: world })
        const hub = await openTestHub(await database.connect(), { remoteTools: standInRemoteTools })
        const before = await findLastChange(reader(hub))
        const found: Partial<Record<Verb, string>> = {}
        for (const verb of order) found[verb] = await outcomeOf(calls[verb](hub, targetOf(of)))
        if (reading.includes(of)) expect(await findLastChange(reader(hub)), 'the feed').toEqual(before)
        await hub.close()
        expect(found).toEqual(Object.fromEntries(order.map((verb) => [verb, rows[verb][of]])))
      },
    )
})

describe('The verbs in reach of doors', () => {
  const sources = repositoryFiles()

  verifies('access.verbs.callers', 'take their caller right after the hub', () => {
    const verbs = verbsInReach(sources)
    expect(verbs.length).toBeGreaterThan(50)
    expect(verbs.filter(({ caller }) => caller === undefined)).toEqual([])
  })

  verifies('access.verbs.callers', 'stand in the matrix, each of them, and nothing else does', () => {
    expect([...new Set(verbsInReach(sources).map(({ name }) => name))].sort()).toEqual(Object.keys(rows).sort())
  })

  verifies('access.verbs.callers', 'are found however they are written', () => {
    const door: Source = {
      path: 'src/doors/a/door.ts',
      text: "import { type T, one, three, two } from '../../core/n/n.ts'\nimport { five } from '../../core/n/m.ts'\nimport type { four } from '../../core/n/n.ts'",
    }
    const core: Source = {
      path: 'src/core/n/n.ts',
      text: `
        export const one = async (hub: Hub, project: string) => 1
        export async function two(
          hub: Hub,
          { caller, key }: Holder,
        ) {}
        export const three = (text: string) => text
        export function four(hub: Hub) {}
        export async function five<T>(hub: Hub, caller: Caller): Promise<T> {}`,
    }
    const other: Source = { path: 'src/core/n/m.ts', text: "export { five } from './n.ts'" }
    expect(verbsInReach([door, core, other])).toEqual([
      { name: 'five', file: 'src/core/n/n.ts', caller: 'Caller' },
      { name: 'one', file: 'src/core/n/n.ts', caller: undefined },
      { name: 'two', file: 'src/core/n/n.ts', caller: 'Holder' },
    ])
  })
})
