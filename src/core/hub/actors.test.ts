/** The feed names the caller of every change. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { agentCaller, local, operator } from '../access/callers.ts'
import { createKey } from '../agents/keys.ts'
import { reserve, sweepLeases } from '../leases/leases.ts'
import { take } from '../mail/take.ts'
import { send } from '../messages/send.ts'
import { closeTopic, createTopic } from '../topics/topics.ts'
import { inside } from './hub.ts'

eachEngine('The feed', (open) => {
  verifies('feed.change.says-who', 'says which caller did it, and what the hub did by itself', async () => {
    const hub = await openTestHub(await (await open()).connect())
    const as = (name: string, caller = local) => ({ caller, project: 'commons', name })
    await send(hub, as('ann'), { to: [{ name: 'bob' }], body: 'hello' })
    const { agent } = await createKey(hub, as('bob', operator))
    await take(hub, as('bob', agentCaller(agent)), now)
    const topic = await createTopic(hub, operator, 'commons', { name: 't', mode: 'new' })
    await closeTopic(hub, agentCaller(agent), 'commons', { uid: topic.uid })
    const lease = { patterns: ['a.ts'], exclusive: true, reason: '', ttlMs: 0, onConflict: 'grant' } as const
    await reserve(hub, as('ann'), lease)
    await sweepLeases(hub, 10)
    const rows = await hub[inside].db.all<{ kind: string; actor: string }>(
      sql`SELECT kind, actor FROM changes ORDER BY id`,
    )
    expect(rows.map(({ kind, actor }) => `${kind} ${actor}`)).toEqual([
      'agent.created local',
      'agent.created local',
      'message.sent local',
      'agent.keyed operator',
      `mail.taken agent:${agent.id}`,
      'topic.created operator',
      `topic.closed agent:${agent.id}`,
      'lease.granted local',
      'lease.expired hub',
    ])
    await hub.close()
  })
})
