/** Twenty agents at two nodes on one PostgreSQL: each goes on at the other node when its own fails, and repeats what was not answered. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { httpPeer, type Message as Said } from './bus.ts'
import { type InboxAnswer, plainMail } from './mail.ts'
import { type Mail, mailbox, type Served } from './parley.ts'

export const agents = 20
const peers = 5

/** Between two sends or two looks of one agent: a hundred of each a second, which leaves two cores to the nodes. */
const paceMs = 200

export interface Crowd {
  /** The acknowledged messages by agent, in the order of the sends: the id says who sent it to whom. */
  readonly sent: readonly (readonly string[])[]
  /** The acknowledged messages of the topic. */
  readonly said: readonly string[]
  /** Resolves once every agent has had something more acknowledged. */
  goOn(): Promise<void>
  /** Ends the sends and waits until all was received; then looks whether it was, once and in order. */
  finish(): Promise<void>
}

/** A call that may be made again: it has an id of its own, or changes nothing. */
type Call<T> = (node: Served) => Promise<T>

/** Errors that a client may get while its node or the database is away; everything else is a fault of Parley. */
function isAway(error: unknown): boolean {
  if (error instanceof TypeError) return true
  const { code } = (error ?? {}) as { code?: string }
  return code === 'DB_BUSY' || code === 'SHUTTING_DOWN'
}

async function insist<T>(nodes: readonly Served[], home: number, call: Call<T>): Promise<T> {
  for (let n = home; ; n++)
    try {
      return await call(nodes[n % nodes.length] as Served)
    } catch (error) {
      if (!isAway(error)) throw error
      await sleep(50)
    }
}

const named = (n: number): string => `agent-${n}`
/** The recipient of an agent's n-th message: three others in turn. */
const recipientOf = (from: number, n: number): number => (from + 1 + 6 * (n % 3)) % agents

/** All that is in an inbox from `after` on, oldest first. */
async function readInbox(node: Served, agent_name: string, after: number): Promise<{ id: number; body: string }[]> {
  const found: { id: number; body: string }[] = []
  for (let after_id: number | undefined = after; after_id !== undefined; ) {
    const asked = { project_key: 'commons', agent_name, after_id, limit: 100, include_bodies: true }
    const page: InboxAnswer = await plainMail(node).callWhole('fetch_inbox', asked)
    found.push(...page.result.toReversed().map(({ id, body_md = '' }) => ({ id, body: body_md })))
    after_id = page.next_after
  }
  return found
}

export async function openCrowd(nodes: readonly Served[]): Promise<Crowd> {
  const sent: string[][] = Array.from({ length: agents }, () => [])
  const taken: string[][] = Array.from({ length: agents }, () => [])
  const read: string[][] = Array.from({ length: agents }, () => [])
  const said: string[] = []
  const heard: Said[][] = Array.from({ length: peers }, () => [])
  let [sending, receiving] = [true, true]

  const send = async (from: number) => {
    for (let n = 0; sending; n++) {
      const [to, id] = [recipientOf(from, n), `${from}>${recipientOf(from, n)} #${n}`]
      await insist(nodes, from, (node) => mailbox(node, named(from)).send(named(to), id, id))
      sent[from]?.push(id)
      await sleep(paceMs)
    }
  }
  /** By a long poll that lends each message: one whose answer was lost with its node comes back. */
  const takeMail = async (n: number) => {
    while (receiving) {
      const mail = await insist<Mail | null>(nodes, n, (node) =>
        mailbox(node, named(n)).check({ wait_seconds: 1, lease_seconds: 2 }),
      )
      if (mail === null) continue
      taken[n]?.push(mail.content)
      await insist(nodes, n, (node) => mailbox(node, named(n)).ack(mail.id, mail.lease ?? ''))
    }
  }
  /** By reading on from the last known id. */
  const readMail = async (n: number) => {
    for (let last = 0; receiving; await sleep(paceMs)) {
      const found = await insist(nodes, n, (node) => readInbox(node, named(n), last))
      read[n]?.push(...found.map(({ body }) => body))
      last = found.at(-1)?.id ?? last
    }
  }
  const topic = await httpPeer(nodes[0] as Served, `?agent=${named(0)}`).join(named(0), 'assembly')
  for (let n = 1; n < peers; n++)
    await httpPeer(nodes[n % 2] as Served, `?agent=${named(n)}`).call('topic_join', {
      agent_name: named(n),
      topic_id: topic,
    })
  /** Says something now and then, and waits for what the others say; it tells itself how far it has read. */
  const talk = async (n: number) => {
    for (let [count, seq] = [0, 0]; receiving; ) {
      const id = `${n} says ${count}`
      const outbox = sending ? [{ content_markdown: id, client_message_id: id }] : []
      const { received } = await insist(nodes, n, (node) =>
        httpPeer(node, `?agent=${named(n)}`).sync(topic, {
          outbox,
          ack_through: seq,
          auto_advance: false,
          include_self: true,
          max_items: 50,
          wait_seconds: 1,
        }),
      )
      if (outbox.length > 0) said[said.length] = `${n} says ${count++}`
      heard[n]?.push(...received)
      seq = received.at(-1)?.seq ?? seq
      await sleep(200)
    }
  }

  const all = Array.from({ length: agents }, (_, n) => n)
  // One who looks for mail is somebody from then on.
  await Promise.all(all.map((n) => mailbox(nodes[n % 2] as Served, named(n)).check()))
  const senders = Promise.all(all.map(send))
  const receivers = Promise.all([
    ...all.map((n) => (n % 2 === 0 ? takeMail(n) : readMail(n))),
    ...all.slice(0, peers).map(talk),
  ])
  for (const work of [senders, receivers]) work.catch(() => {})

  const expected = (to: number) => sent.flat().filter((id) => id.includes(`>${to} `))
  return {
    sent,
    said,
    async goOn() {
      const goals = sent.map(({ length }) => length + 2)
      const behind = () => sent.filter(({ length }, n) => length < (goals[n] ?? 0)).length
      await Promise.race([expect.poll(behind, { timeout: 20_000 }).toBe(0), senders, receivers])
      expect(behind()).toBe(0)
    },
    async finish() {
      sending = false
      await senders
      const missing = () => [
        ...all.filter((n) => (n % 2 === 0 ? taken : read)[n]?.length !== expected(n).length),
        ...heard.filter((list) => list.length !== said.length),
      ]
      // On a busy machine those who take one by one are behind: as long as they come nearer, they are waited for.
      const got = () => [...taken, ...read, ...heard].reduce((sum, list) => sum + list.length, 0)
      for (let before = -1; missing().length > 0 && got() > before; ) {
        before = got()
        const moved = expect.poll(() => missing().length === 0 || got() > before, { timeout: 20_000 }).toBe(true)
        await Promise.race([moved, receivers])
      }
      expect(missing()).toEqual([])
      receiving = false
      await receivers

      for (const n of all) {
        const inbox = (await readInbox(nodes[1] as Served, named(n), 0)).map(({ body }) => body)
        for (const from of all) {
          const between = `${from}>${n} `
          expect(inbox.filter((id) => id.startsWith(between))).toEqual(
            sent[from]?.filter((id) => id.startsWith(between)),
          )
        }
        expect(inbox.length).toBe(expected(n).length)
        if (n % 2 === 0) expect(taken[n]?.toSorted()).toEqual(inbox.toSorted())
        else expect(read[n]).toEqual(inbox)
      }
      const numbers = said.map((_, n) => n + 1)
      for (const list of heard) expect(list.map(({ seq }) => seq)).toEqual(numbers)
      expect(heard[0]?.map(({ content_markdown }) => content_markdown).toSorted()).toEqual(said.toSorted())
      for (const list of heard) expect(list).toEqual(heard[0])
    },
  }
}
