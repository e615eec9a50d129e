/** Races between changes of a contact, on both engines: a handshake that comes a moment after a denial changes nothing. */

import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { openContacts } from '../../../test/support/contacts.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { inside } from '../../core/hub/hub.ts'
import { approveContacts, fileContacts } from './contacts.ts'

eachEngine('Rows of contacts', (open) => {
  verifies('mail.contact.denied', 'neither a handshake nor a filed request overturns a denial', async () => {
    const { hub, clock, people, ask, answer, links } = await openContacts(await (await open()).connect())
    await people({ Ann: 'auto', Bob: 'auto', Cid: 'auto' })
    await ask('Ann', 'Bob')
    await answer('Bob', 'Ann', false, 1000)
    const agents = await hub[inside].db.all<{ id: number }>(sql`SELECT id FROM agents ORDER BY name`)
    const [ann, bob, cid] = agents.map(({ id }) => id) as [number, number, number]
    const both = () => ({ fromId: ann, toIds: [cid, bob], now: clock.now(), expiresAt: clock.now() + 500 })
    expect([...(await hub[inside].db.tx((tx) => fileContacts(tx, both()))).keys()]).toEqual([cid])
    expect([...(await hub[inside].db.tx((tx) => approveContacts(tx, both()))).keys()]).toEqual([cid])
    expect(await links()).toEqual(['Ann>Bob denied', 'Ann>Cid approved'])
    clock.advance(1000)
    expect([...(await hub[inside].db.tx((tx) => approveContacts(tx, both()))).keys()].toSorted()).toEqual(
      [bob, cid].toSorted(),
    )
    expect(await links()).toEqual(['Ann>Bob approved', 'Ann>Cid approved'])
  })
})
