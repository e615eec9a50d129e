/** Two agents with keys that talk over REST and listen on WebSockets at two nodes, each at the other when its own fails. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Served } from './parley.ts'
import { type Answer, agentWith, connected, type PostAgent } from './post.ts'
import { socketOf } from './sockets.ts'

export interface Dialogue {
  /** Ends the sends; then looks whether each acknowledged message is there once, in the order in which its sender sent it. */
  finish(): Promise<void>
}

/** A client repeats requests that fail while the node or the database is away. */
async function insist(
  nodes: readonly Served[],
  home: number,
  call: (node: Served) => Promise<Answer>,
): Promise<Answer> {
  for (let n = home; ; n++) {
    const answer = await call(nodes[n % nodes.length] as Served).catch((error: unknown) => {
      if (!(error instanceof TypeError)) throw error
    })
    if (answer !== undefined && answer.status < 400) return answer
    // Busy, and nothing worse; and it is told when to come back.
    if (answer !== undefined) expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
    await sleep(50)
  }
}

export async function openDialogue(nodes: readonly Served[]): Promise<Dialogue> {
  const pair = await connected(nodes[0] as Served)
  let sending = true
  const say = async (me: PostAgent, other: PostAgent, home: number) => {
    const said: string[] = []
    let session = ''
    for (let n = 0; sending; n++) {
      const content = `${me.name} ${n}`
      const { body } = await insist(nodes, home, (node) =>
        agentWith(node, me).send(other, 'nodes', content, { client_message_id: content }),
      )
      said.push(content)
      session = body.session_id
      await sleep(100)
    }
    return { said, session }
  }
  /** The events of its sockets; one that is closed is opened anew at the next node. */
  const listen = (me: PostAgent, home: number) => {
    const open = Promise.withResolvers<void>()
    const ear = { told: [] as string[], lost: 0, open: open.promise }
    const hear = async (node: Served) => {
      const socket = await socketOf(node, me)
      open.resolve()
      for (;;) {
        const event = await socket.next()
        if (event.type === 'new_message') ear.told.push(event.content)
      }
    }
    const keep = async () => {
      for (let n = home; sending; n++) {
        await hear(nodes[n % nodes.length] as Served).catch(() => ear.lost++)
        await sleep(50)
      }
    }
    void keep()
    return ear
  }
  const [one, two] = pair
  const ears = [listen(one, 0), listen(two, 1)] as const
  await Promise.all(ears.map(({ open }) => open))
  const both = Promise.all([say(one, two, 0), say(two, one, 1)])
  both.catch(() => {})
  return {
    async finish() {
      sending = false
      const [first, second] = await both
      expect(second.session).toBe(first.session)
      const heard: { id: string; content: string }[] = []
      for (let before = ''; ; before = `&before=${heard[0]?.id}`) {
        const reader = agentWith(nodes[1] as Served, one)
        const { status, body } = await reader.history(first.session, `?limit=50${before}`)
        expect(status).toBe(200)
        if (body.messages.length === 0) break
        heard.unshift(...body.messages.toReversed())
      }
      for (const { said } of [first, second]) {
        const own = heard.map(({ content }) => content).filter((content) => said.includes(content))
        expect(own).toEqual(said)
      }
      expect(heard).toHaveLength(first.said.length + second.said.length)
      for (const [{ told, lost }, { said }] of [
        [ears[0], second],
        [ears[1], first],
      ] as const) {
        await expect.poll(() => told.at(-1), { timeout: 10_000 }).toBe(said.at(-1))
        // Mail that a lost socket did not tell is in the inbox; nothing is told twice or out of order.
        expect(told).toEqual(lost === 0 ? said : said.filter((content) => told.includes(content)))
      }
      expect(ears[1].lost).toBe(0)
    },
  }
}
