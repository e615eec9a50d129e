/** The deaf agent: one that only uses the hub reads its mail there, and its mailbox never fills up. */
import { expect } from 'vitest'
import { hubDoorOf, type ReplyShape, threadUri } from '../support/hub-door.ts'
import { plainMail } from '../support/mail.ts'
import { mailbox, waitingCalls } from '../support/parley.ts'
import { connected, eachPost } from '../support/post.ts'
import { verifies } from '../support/verifies.ts'
import { visitor } from '../support/web.ts'

const depth = 5

interface Own {
  threads: { thread: string; unread: number }[]
}

eachPost(
  'An agent that only uses the hub',
  (parley) => {
    let count = 0
    const names = (...all: string[]): string[] => {
      count++
      return all.map((name) => `${name}${count}`)
    }
    const as = (agent: string) => hubDoorOf(parley(), agent)
    const unread = async (agent: string, thread: string) =>
      (await as(agent).read<Own>(`apm2://agents/${agent}`)).threads.find((one) => one.thread === thread)?.unread
    /** Messages of the agent that the mail door, the pages and the gauge call unread. */
    const elsewhere = async (agent: string) => {
      const inbox = await plainMail(parley()).call<{ read_ts: string | null }[]>('fetch_inbox', {
        project_key: 'commons',
        agent_name: agent,
        limit: 100,
      })
      const page = await visitor(parley().url).data<{ messages: unknown[] }>(
        `/mail/commons/inbox/${agent}?unread=1&limit=100`,
      )
      return { mail: inbox.filter(({ read_ts }) => read_ts === null).length, pages: page.messages.length }
    }

    verifies('hub.unread.deaf', 'goes on receiving, by whatever call it reads', async () => {
      const [alice = '', bob = ''] = names('alice', 'bob')
      const { thread } = await as(alice).send(bob, '0')
      const reads: (() => Promise<unknown>)[] = [
        () => as(bob).thread(thread, { cursor: String(Math.max(0, sent - 2)) }),
        () => as(bob).read(`${threadUri(thread)}?limit=200`),
        () => as(bob).thread(thread, { limit: 200 }),
      ]
      let sent = 1
      for (; sent < depth * 4; sent++) {
        await as(alice).send(bob, String(sent), { thread })
        if (sent % 2 === 1) await reads[(sent >> 1) % reads.length]?.()
      }
      await as(bob).thread(thread, { limit: 200 })
      expect(await unread(bob, thread)).toBe(0)
      expect(await elsewhere(bob)).toEqual({ mail: 0, pages: 0 })
      expect(await mailbox(parley(), bob).check()).toBe(null)
      // Unread mail still fills it.
      for (let n = 0; n < depth; n++) await as(alice).send(bob, 'more', { thread })
      await expect(as(alice).send(bob, 'too much', { thread })).rejects.toMatchObject({ code: 'MAILBOX_FULL' })
      expect(await unread(bob, thread)).toBe(depth)
      expect(await elsewhere(bob)).toEqual({ mail: depth, pages: depth })
    })

    verifies('hub.unread.deaf', 'goes on getting answers to its questions', async () => {
      const [alice = '', bob = ''] = names('alice', 'bob')
      for (let n = 0; n < depth * 2; n++) {
        const asking = as(alice).call<{ thread: string; reply: ReplyShape }>('apm2.message.ask', {
          to: bob,
          text: `q${n}`,
          wait_seconds: 20,
        })
        while ((await waitingCalls(parley())) === 0);
        const question = await mailbox(parley(), bob).check({ wait_seconds: 5 })
        await mailbox(parley(), bob).send(alice, `a${n}`, question?.id)
        const { thread, reply } = await asking
        expect(reply.text).toBe(`a${n}`)
        expect(await unread(alice, thread)).toBe(0)
      }
    })

    verifies('hub.unread.one', 'has one unread with every other door', async () => {
      const [alice = '', bob = '', carol = ''] = names('alice', 'bob', 'carol')
      const { thread } = await as(alice).send(bob, 'one')
      await as(alice).send(bob, 'two', { thread })
      await as(bob).thread(thread, { limit: 1 })
      expect(await elsewhere(bob)).toEqual({ mail: 1, pages: 1 })
      expect(await mailbox(parley(), bob).check()).toMatchObject({ content: 'two' })
      expect(await unread(bob, thread)).toBe(0)
      // A reader with a grant reads somebody else's mail.
      await as(alice).send(bob, 'three', { thread })
      await as(carol).send(carol, 'I am here')
      await as(alice).call('apm2.grant.create', { agent: carol, thread, can: 'read' })
      expect((await as(carol).thread(thread)).messages).toHaveLength(3)
      expect(await unread(bob, thread)).toBe(1)
      expect(await mailbox(parley(), bob).check()).toMatchObject({ content: 'three' })
    })

    verifies('hub.unread.one', 'has one unread with the inbox of its key', async () => {
      const [alice, bob] = await connected(parley())
      const own = hubDoorOf(parley(), undefined, { headers: { 'X-API-Key': bob.key } })
      await alice.send(bob, 'plans', 'hello')
      const unreadThere = async () => (await bob.inbox()).body.sessions[0].unread_count
      expect(await unreadThere()).toBe(1)
      const [{ thread = '' } = {}] = (await own.read<Own>(`apm2://agents/${bob.name}`)).threads
      await own.thread(thread)
      expect(await unreadThere()).toBe(0)
    })
  },
  { MAILBOX_MAX_DEPTH: String(depth) },
)
