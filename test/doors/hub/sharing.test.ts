/** Sharing at the hub: grants to write, and blind copies. */
import { describe, expect } from 'vitest'
import { listenEvents } from '../../support/events.ts'
import { hubDoorOf } from '../../support/hub-door.ts'
import { callTool } from '../../support/parley.ts'
import { eachPost } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'

const bearer = { Authorization: 'Bearer the-operators-token' }

eachPost(
  'Sharing at the hub',
  (parley) => {
    const as = (agent: string | undefined, headers?: Record<string, string>) =>
      hubDoorOf(parley(), agent, headers === undefined ? {} : { headers })

    let count = 0
    const names = (...all: string[]): string[] => {
      count++
      return all.map((name) => `${name}${count}`)
    }

    const mail = async (tool: string, args: Record<string, unknown>) =>
      (await callTool(`${parley().url}/mcp`, tool, { project_key: 'commons', ...args })).structuredContent as Record<
        string,
        unknown
      >

    const bus = async (agent: string, tool: string, args: Record<string, unknown>) =>
      (await callTool(`${parley().url}/bus/mcp?agent=${agent}`, tool, args)).structuredContent as Record<
        string,
        unknown
      >

    describe('With a grant to write', () => {
      const grant = (agent: string, args: object) => as(agent).call('apm2.grant.create', { can: 'write', ...args })
      const policy = (agent_name: string, policy: string, project_key = 'commons') =>
        callTool(`${parley().url}/mcp`, 'set_contact_policy', { project_key, agent_name, policy })

      verifies('hub.grant.write', 'an agent reaches a granter that takes mail from contacts only', async () => {
        const [alice = '', bob = '', carol = '', dan = ''] = names('alice', 'bob', 'carol', 'dan')
        const { thread } = await as(alice).send(bob, 'one')
        for (const name of [carol, dan]) await as(name).send(name, 'I am here')
        for (const name of [alice, bob]) await policy(name, 'contacts_only')
        await grant(alice, { agent: carol, thread })
        expect(await as(carol).send(alice, 'two', { thread })).toMatchObject({ thread, seq: 2 })
        // The other participant has let in nobody, and elsewhere the grant opens nothing.
        await expect(as(carol).send(bob, 'x', { thread })).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
        await expect(as(carol).send(alice, 'x')).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
        // A grant of the operator holds for all who take part.
        await as(undefined, bearer).call('apm2.grant.create', { agent: dan, thread, can: 'write' })
        expect(await as(dan).send(bob, 'three', { thread })).toMatchObject({ thread })
        await policy(alice, 'block_all')
        await expect(as(carol).send(alice, 'x', { thread })).rejects.toMatchObject({ code: 'CONTACT_BLOCKED' })
      })

      verifies('hub.grant.write', 'an agent of another project writes into the thread and the topic', async () => {
        const [alice = '', bob = '', carol = ''] = names('alice', 'bob', 'carol')
        const guest = hubDoorOf(parley(), carol, { project: '/srv/guests' })
        await guest.send(carol, 'I am here')
        const { thread } = await as(alice).send(bob, 'one')
        for (const name of [alice, bob]) await policy(name, 'auto')
        const { topic_id } = await bus(alice, 'topic_create', { name: `topic of ${alice}` })
        await bus(alice, 'topic_join', { agent_name: alice, topic_id })
        const invite = (key: unknown, can: string) => grant(alice, { agent: `${carol}@/srv/guests`, thread: key, can })
        for (const key of [thread, topic_id]) {
          await invite(key, 'read')
          await expect(guest.send(`${bob}@commons`, 'x', { thread: key })).rejects.toMatchObject({ code: 'FORBIDDEN' })
          await invite(key, 'write')
        }
        for (const name of [alice, bob])
          expect(await guest.send(`${name}@commons`, `to ${name}`, { thread })).toMatchObject({ thread })
        expect((await as(bob).thread(thread)).messages.at(-1)).toMatchObject({ text: `to ${bob}` })
        expect(await guest.send(`${alice}@commons`, 'in the topic', { thread: topic_id })).toMatchObject({
          thread: topic_id,
        })
        expect(await bus(alice, 'sync', { topic_id, wait_seconds: 0 })).toMatchObject({
          received: [{ content_markdown: 'in the topic', sender: carol }],
        })
      })
    })

    verifies('hub.thread.blind', 'a blind copy is its recipient’s own, and nobody else’s', async () => {
      const [alice = '', bob = '', carol = '', eve = ''] = names('alice', 'bob', 'carol', 'eve')
      for (const name of [alice, bob, carol, eve]) await as(name).send(name, 'I am here')
      const follow = await listenEvents(as(carol).endpoint, [`apm2://agents/${carol}`])
      const { message_id } = await mail('send_message', {
        sender_name: alice,
        to: [bob],
        bcc: [carol],
        subject: 'plan',
        body_md: 'quietly',
      })
      const thread = String(message_id)
      await follow.until(1)
      const own = async () =>
        (await as(carol).read<{ threads: { thread: string; unread: number }[] }>(`apm2://agents/${carol}`)).threads[0]
      expect(await own()).toMatchObject({ thread, subject: 'plan', unread: 1 })
      expect(await as(carol).thread(thread)).toMatchObject({
        messages: [{ text: 'quietly' }],
        participants: [alice, bob],
      })
      expect(await own()).toMatchObject({ unread: 0 })
      expect((await as(bob).thread(thread)).participants).toEqual([alice, bob])
      // Carol lends her view, without what was sent to her blindly.
      await as(carol).call('apm2.grant.create', { agent: eve, thread, can: 'read' })
      expect((await as(eve).thread(thread)).messages).toEqual([])
    })

    verifies('hub.thread.blind', 'a blind copy in another project is found there too', async () => {
      const [alice = '', bob = '', otto = ''] = names('alice', 'bob', 'otto')
      for (const name of [alice, bob]) await as(name).send(name, 'I am here')
      const there = hubDoorOf(parley(), otto, { project: '/srv/blind' })
      await there.send(otto, 'I am here')
      const { message_id } = await mail('send_message', {
        sender_name: alice,
        to: [bob],
        bcc: [`${otto}@/srv/blind`],
        subject: 'plan',
        body_md: 'quietly',
      })
      expect((await there.thread(String(message_id))).messages).toMatchObject([{ text: 'quietly' }])
    })
  },
  { HTTP_BEARER_TOKEN: 'the-operators-token' },
)
