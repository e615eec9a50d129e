/** Two projects that people watch: mail within and across them, a topic, agents with keys and without. */
import { agentCaller, local, operator } from '../../src/core/access/callers.ts'
import { ensureAgent } from '../../src/core/agents/agents.ts'
import { createKey } from '../../src/core/agents/keys.ts'
import type { Hub } from '../../src/core/hub/hub.ts'
import { type Draft, send } from '../../src/core/messages/send.ts'
import { remark } from '../../src/core/topics/remarks.ts'
import { createTopic } from '../../src/core/topics/topics.ts'
import { TestClock } from './clock.ts'
import type { OpenDatabase } from './engines.ts'
import { openTestHub, registered, type TestHubOptions } from './hub.ts'

export const [back, front] = ['/srv/shop-backend', '/srv/shop-frontend']

export async function openPages(open: OpenDatabase, options: TestHubOptions = {}) {
  const clock = new TestClock()
  const database = await open()
  const hub: Hub = await openTestHub(await database.connect(), { clock, ...options })
  for (const name of ['Ann', 'Bob', 'Cleo']) await ensureAgent(hub, local, { project: back, name })
  for (const name of ['Dora', 'Bob']) await ensureAgent(hub, local, { project: front, name })
  const write = async (from: string, to: Draft['to'], more: Partial<Draft> = {}, project = back): Promise<number> => {
    clock.advance(1000)
    const draft = { subject: 'Plan', body: 'hello', ...more, to }
    return (await send(hub, registered(from, project), draft)).messageId
  }
  const topic = await createTopic(hub, local, back, { name: 'standup', mode: 'new' })
  const say = async (from: string, body: string): Promise<void> => {
    clock.advance(1000)
    await remark(hub, registered(from, back), { topic, outgoing: { body, kind: 'message' } })
  }
  /** Gives an agent a key, and returns the caller that has it. */
  const keyed = async (name: string, project = back) => {
    const agent = await ensureAgent(hub, local, { project, name })
    await createKey(hub, { caller: operator, project, name, registered: true })
    return agentCaller(agent)
  }
  return { hub, clock, write, topic, say, keyed, database }
}
