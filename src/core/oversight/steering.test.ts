/** How people steer agents, on both engines. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { registered } from '../../../test/support/hub.ts'
import { asked } from '../../../test/support/leases.ts'
import { back, openWatched } from '../../../test/support/oversight.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local, operator, person } from '../access/callers.ts'
import { whois } from '../agents/profiles.ts'
import { reserve } from '../leases/leases.ts'
import { freeLeases } from '../mail/freeing.ts'

eachEngine('Steering', (open) => {
  verifies('web.overseer.identity', 'mail to people makes HumanOverseer as it is', async () => {
    const { hub, write } = await openWatched(open)
    await write('Ann', [{ name: 'human-overseer' }])
    expect(await whois(hub, operator, back, 'HumanOverseer')).toMatchObject({
      name: 'HumanOverseer',
      program: 'WebUI',
      model: 'Human',
      contactPolicy: 'open',
    })
    await hub.close()
  })

  verifies('web.access.steering', 'only people steer', async () => {
    const { hub, keyed } = await openWatched(open)
    const { granted } = await reserve(hub, registered('Ann', back), { ...asked, patterns: ['src/a.ts', 'src/b.ts'] })
    const [one, two] = granted.map(({ id }) => id)
    const ann = await keyed('Ann')
    const free = (caller: typeof local, id = 0) => freeLeases(hub, caller, back, { ids: [id], patterns: [] })
    for (const caller of [local, ann]) await expect(free(caller, one)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await free(person, one)).toMatchObject([{ agent: 'Ann', told: true }])
    expect(await free(operator, two)).toMatchObject([{ agent: 'Ann', told: true }])
    await hub.close()
  })
})
