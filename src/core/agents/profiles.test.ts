/** The directory of a project: who is there, when each was last active, page by page. */

import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { as, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { local } from '../access/callers.ts'
import { inside } from '../hub/hub.ts'
import { send } from '../messages/send.ts'
import { ensureProject } from '../projects/projects.ts'
import { actAs } from './acting.ts'
import { activity } from './activity.ts'
import { ensureAgent } from './agents.ts'
import { countAgents, listAgents, listAllAgents, pageAgents, whois } from './profiles.ts'

const project = '/srv/code/backend'
const names = ({ agents }: { agents: readonly { name: string }[] }) => agents.map(({ name }) => name)

eachEngine('Profiles', (open) => {
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const connect = async () => openTestHub(await database.connect(), { clock })
    return { clock, connect, hub: await connect() }
  }

  verifies('mail.agent.list', 'are listed by activity, which counts before it is written', async () => {
    const { clock, hub } = await start()
    for (const name of ['ann', 'bob', 'cy']) {
      await ensureAgent(hub, local, { project, name })
      clock.advance(1000)
    }
    expect(names(await listAgents(hub, local, project, { limit: 10 }))).toEqual(['cy', 'bob', 'ann'])
    clock.advance(60_000)
    await actAs(hub, as('ann', project))
    expect(names(await listAgents(hub, local, project, { limit: 10 }))).toEqual(['ann', 'cy', 'bob'])
    expect(names(await listAgents(hub, local, project, { limit: 2 }))).toEqual(['ann', 'cy'])
    expect(names(await listAgents(hub, local, project, { limit: 10, activeWithinMs: 1000 }))).toEqual(['ann'])
    expect(names(await pageAgents(hub, local, project, { limit: 10, activeWithinMs: 1000 }))).toEqual(['ann'])
    for (const asked of [{}, { project }]) {
      expect(names(await listAllAgents(hub, local, { ...asked, limit: 2 }))).toEqual(['ann', 'cy'])
      expect(names(await listAllAgents(hub, local, { ...asked, limit: 2, activeWithinMs: 1000 }))).toEqual(['ann'])
    }
    await actAs(hub, as('bob', project))
    expect(names(await pageAgents(hub, local, project, { limit: 10, activeWithinMs: 1000 }))).toEqual(['ann', 'bob'])
    for (const activeWithinMs of [0.5, 1e300])
      expect(names(await listAgents(hub, local, project, { limit: 2, activeWithinMs }))).toEqual(['bob', 'ann'])
    await expect(listAgents(hub, local, '/srv/none', { limit: 1 })).rejects.toMatchObject({ code: 'PROJECT_NOT_FOUND' })
    await hub.close()
  })

  verifies('mail.agent.list', 'are listed without a write, and as exactly as if all were written', async () => {
    const { clock, hub } = await start()
    const all = Array.from({ length: 12 }, (_, n) => `agent${String.fromCharCode(97 + n)}`)
    for (const name of all) await ensureAgent(hub, local, { project, name })
    await ensureAgent(hub, local, { project: '/srv/code/other', name: 'stranger' })
    await activity(hub).write()
    const begin = clock.now()
    // The stored order is older than the one in memory: three of the oldest were active since.
    for (const name of ['agenta', 'agentc', 'agentb']) {
      clock.advance(1000)
      await actAs(hub, as(name, project))
    }
    await actAs(hub, as('stranger', '/srv/code/other'))
    const look = async () => [
      names(await listAgents(hub, local, project, { limit: 2 })),
      names(await listAgents(hub, local, project, { limit: 5 })),
      names(await listAgents(hub, local, project, { limit: 9, activeWithinMs: 1000 })),
      names(await pageAgents(hub, local, project, { limit: 2, activeWithinMs: 2000 })),
      (await pageAgents(hub, local, project, { limit: 2, activeWithinMs: 2000 })).next,
    ]
    const seen = await look()
    expect(seen).toEqual([
      ['agentb', 'agentc'],
      ['agentb', 'agentc', 'agenta', 'agentl', 'agentk'],
      ['agentb', 'agentc'],
      ['agenta', 'agentb'],
      'agentb',
    ])
    expect(await hub[inside].db.all(sql`SELECT name FROM agents WHERE active_at > ${begin}`)).toEqual([])
    await activity(hub).write()
    expect(await hub[inside].db.all(sql`SELECT name FROM agents WHERE active_at > ${begin}`)).toHaveLength(4)
    expect(await look()).toEqual(seen)
    await hub.close()
  })

  verifies('mail.agent.active', 'tell at once when an agent was last active, and after a restart', async () => {
    const { clock, connect, hub } = await start()
    await ensureAgent(hub, local, { project, name: 'ann' })
    clock.advance(3_000)
    const at = clock.now()
    await actAs(hub, as('ann', project))
    expect((await whois(hub, local, project, 'ann')).activeAt).toBe(at)
    clock.advance(1_000)
    expect((await whois(hub, local, project, 'ann')).activeAt).toBe(at)
    const writing = activity(hub).write()
    const later = clock.now()
    await actAs(hub, as('ann', project))
    await writing
    expect((await whois(hub, local, project, 'ann')).activeAt).toBe(later)
    await hub.close()
    const next = await connect()
    expect((await whois(next, local, project, 'ann')).activeAt).toBe(later)
    await next.close()
  })

  verifies('mail.agent.whois', 'tell how much mail waits, and nobody unknown', async () => {
    const { hub } = await start()
    for (const body of ['one', 'two']) await send(hub, as('ann', project), { to: [{ name: 'bob' }], body })
    expect(await whois(hub, local, project, 'BOB')).toMatchObject({ name: 'bob', unread: 2, contactPolicy: 'open' })
    await expect(whois(hub, local, project, 'carol')).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
    await hub.close()
  })

  verifies(
    'mail.agent.pages',
    'are paged by name, and nobody is passed over who becomes active meanwhile',
    async () => {
      const { clock, hub } = await start()
      const all = Array.from({ length: 7 }, (_, n) => `Agent${'gfedcba'[n]}`)
      for (const name of all) await ensureAgent(hub, local, { project, name })
      await ensureAgent(hub, local, { project: '/srv/code/other', name: 'AgentZ' })
      const seen: string[] = []
      let after: string | undefined
      do {
        const page = await pageAgents(hub, local, project, { limit: 3, after })
        seen.push(...names(page))
        after = page.next
        clock.advance(1000)
        await actAs(hub, as('Agentg', project))
      } while (after !== undefined)
      expect(seen).toEqual([...all].sort())
      expect((await pageAgents(hub, local, project, { limit: 7 })).next).toBeUndefined()
      const projects = [await ensureProject(hub, local, project), await ensureProject(hub, local, '/srv/empty')]
      expect([...(await countAgents(hub, local, projects))]).toEqual([[projects[0]?.id, 7]])
      await hub.close()
    },
  )
})
