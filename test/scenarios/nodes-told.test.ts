/** Two nodes on one database: whoever waits or listens at one is told what is sent at the other, also after it heard nothing for a while. */
import { expect } from 'vitest'
import { httpPeer } from '../support/bus.ts'
import { eachEngine } from '../support/engines.ts'
import { listenEvents, openEvents, sessionEvents, subscribe } from '../support/events.ts'
import { hubDoorOf } from '../support/hub-door.ts'
import { openLine } from '../support/line.ts'
import { type Later, mailbox, type Served, serveHere, waitingCalls } from '../support/parley.ts'
import { agentWith, connected, type PostAgent } from '../support/post.ts'
import { socketOf } from '../support/sockets.ts'
import { verifies } from '../support/verifies.ts'
import { openSession } from '../support/wire.ts'

/** Longer than anything here may take: an answer before that was woken. */
const wait_seconds = 45

/** Everything that an agent can have open at a node. Each ear resolves once it has heard of the message. */
async function openEars(node: Served, bob: PostAgent, topic: string) {
  const headers = { 'X-API-Key': bob.key }
  const { endpoint } = hubDoorOf(node, bob.name, { headers })
  const self = `apm2://agents/${bob.name}`
  const token = await openSession(endpoint, headers)
  await subscribe(endpoint, token, self, headers)
  const session = await sessionEvents(endpoint, token, undefined, headers)
  const listening = await listenEvents(endpoint, [self], headers)
  const page = await openEvents(`${node.url}/mail/events`, { method: 'GET', headers: { accept: 'text/event-stream' } })
  const socket = await socketOf(node, bob)
  const mail = mailbox(node, bob.name, { headers }).check({ wait_seconds })
  const said = httpPeer(node, '?agent=ben').sync(topic, { wait_seconds })
  await expect.poll(() => waitingCalls(node), { timeout: 10_000 }).toBe(2)
  return {
    async letter(text: string): Promise<void> {
      await Promise.all([
        expect.poll(() => page.events.length, { timeout: 30_000 }).toBeGreaterThan(0),
        session.until(1),
        listening.until(1),
        (async () => expect(await socket.next()).toMatchObject({ type: 'new_message', content: text }))(),
        (async () => expect(await mail).toMatchObject({ content: text }))(),
      ])
      expect([session.uris(), listening.uris()]).toEqual([[self], [self]])
    },
    async topic(text: string): Promise<void> {
      expect((await said).received).toMatchObject([{ content_markdown: text }])
    },
  }
}

eachEngine('Nodes', (open, dialect) => {
  /** The ears are at the second node, which reaches PostgreSQL over a line that can be cut. */
  async function begin() {
    const { url } = await open()
    const ends: Parameters<Later>[0][] = []
    const later: Later = (work) => ends.push(work)
    const line = dialect === 'postgres' ? await openLine(url, later) : undefined
    const env = { SECRET_KEY: 'one key for both of the nodes' }
    const here = await serveHere({ env: { ...env, DATABASE_URL: url }, later })
    const there = await serveHere({ env: { ...env, DATABASE_URL: line?.url ?? url }, later })
    const [alice, bob] = await connected(here)
    const topic = await httpPeer(here, '?agent=ada').join('ada', 'news')
    await httpPeer(there, '?agent=ben').join('ben', 'news')
    const end = async () => {
      for (const work of ends.reverse()) await work()
    }
    return { line, here, there, alice, bob, topic, end }
  }

  verifies(
    ['serve.nodes.told', 'all.wait.other-process'],
    'waits, sockets, subscriptions and pages are told what is sent at the other node',
    async () => {
      const { here, there, alice, bob, topic, end } = await begin()
      const ears = await openEars(there, bob, topic)
      await agentWith(here, alice).send(bob, 'news', 'hello')
      await httpPeer(here, '?agent=ada').send(topic, 'good morning')
      await Promise.all([ears.letter('hello'), ears.topic('good morning')])
      await end()
    },
    30_000,
  )

  if (dialect === 'postgres')
    verifies(
      ['serve.nodes.deaf', 'serve.wait.database'],
      'all of them look once the node hears again',
      async () => {
        const { line, here, there, alice, bob, topic, end } = await begin()
        const ears = await openEars(there, bob, topic)
        line?.cut()
        await expect.poll(async () => (await fetch(`${there.url}/health/readiness`)).status).toBe(503)
        await agentWith(here, alice).send(bob, 'news', 'hello')
        await httpPeer(here, '?agent=ada').send(topic, 'good morning')
        line?.mend()
        await Promise.all([ears.letter('hello'), ears.topic('good morning')])
        await end()
      },
      40_000,
    )
})
