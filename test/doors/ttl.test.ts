/** Messages with a time to live at every door that takes one, in both eras. */
import { describe, expect } from 'vitest'
import { hubDoorOf } from '../support/hub-door.ts'
import { connectMail, type Message, newProject } from '../support/mail.ts'
import { connectClient, eras, mailbox, shareServer } from '../support/parley.ts'
import { freshName, register } from '../support/post.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()
const notice = (to: string) => new RegExp(`^Your message .* to ${to} was not read`)

let count = 0
const names = () => {
  count++
  return [`alice-${count}`, `bob-${count}`] as const
}

describe.each(eras)('In %s', (era) => {
  verifies(
    ['ttl.expired.gone', 'ttl.expired.told'],
    'send_to_agent takes ttl_seconds, and its sender is told',
    async () => {
      const [alice, bob] = names()
      const client = await connectClient(`${parley().url}/agents/${alice}/mcp`, era)
      await client.callTool({ name: 'send_to_agent', arguments: { name: bob, msg: 'soon', ttl_seconds: 0.05 } })
      const told = await mailbox(parley(), alice).check({ wait_seconds: 20 })
      expect(told).toMatchObject({ from: 'Parley', content: expect.stringMatching(notice(bob)) })
      expect(await mailbox(parley(), bob).check()).toBeNull()
      expect(await mailbox(parley(), alice).check()).toBeNull()
    },
  )

  verifies(
    ['ttl.expired.gone', 'ttl.expired.shown'],
    'send_message takes it; its thread says for whom it expired',
    async () => {
      const project = newProject()
      const door = await connectMail(parley(), era)
      await door.call('ensure_project', { human_key: project })
      const register = async () => (await door.call<{ name: string }>('register_agent', { project_key: project })).name
      const [alice, bob] = [await register(), await register()]
      const letter = { project_key: project, sender_name: alice, to: [bob], subject: 'Plan', body_md: 'soon' }
      const { message_id } = await door.call('send_message', { ...letter, thread_id: 'T-1', ttl_seconds: 0.05 })
      const inbox = (agent_name: string) => door.call<Message[]>('fetch_inbox', { project_key: project, agent_name })
      await expect
        .poll(() => inbox(alice), { interval: 5 })
        .toMatchObject([{ subject: 'Expired unread: Plan', to: [alice] }])
      expect(await inbox(bob)).toEqual([])
      const uri = `resource://thread/T-1?project=${encodeURIComponent(project)}`
      const { messages } = await door.read<{ messages: (Message & { expired?: string[] })[] }>(uri)
      expect(messages).toMatchObject([{ id: message_id, expired: [bob] }, {}])
      expect(messages[1]).not.toHaveProperty('expired')
      // A reply may have one too.
      const answer = { project_key: project, sender_name: bob, message_id, body_md: 'too late' }
      await door.call('reply_message', { ...answer, ttl_seconds: 0.05 })
      await expect
        .poll(() => inbox(bob), { interval: 5 })
        .toMatchObject([{ from: 'Parley', subject: expect.stringMatching(/^Expired unread/) }])
    },
  )
})

verifies('ttl.expired.shown', 'The hub shows in a thread what has expired', async () => {
  const [alice, bob] = names()
  const hub = hubDoorOf(parley(), alice)
  const { thread } = await hub.send(bob, 'soon', { ttl_seconds: 0.05 })
  const read = async () => (await hub.thread(thread)).messages
  await expect.poll(read, { interval: 5 }).toMatchObject([{ text: 'soon', expired: true }, { from: 'Parley' }])
  await expect(
    hub.call('apm2.message.ask', { to: bob, text: 'now?', wait_seconds: 0, ttl_seconds: 0 }),
  ).rejects.toThrow('ttl_seconds')
  const asked = await hub.call<{ message_id: number }>('apm2.message.ask', {
    ...{ to: bob, text: 'now?', wait_seconds: 0, ttl_seconds: 0.05 },
  })
  const told = async () => (await mailbox(parley(), alice).check({ wait_seconds: 20 }))?.content
  await expect.poll(told, { interval: 5 }).toContain(`Your message ${asked.message_id}`)
})

verifies('ttl.expired.gone', 'POST /messages/send takes it too', async () => {
  const alice = await register(parley(), 'alice')
  const bob = freshName('bob')
  // An agent of the mailbox door is open to all.
  await mailbox(parley(), bob).check()
  const body = { to: bob, subject: 'Plan', content: 'soon', ttl_seconds: 0.05 }
  const send = (more: object) => alice.post('/messages/send', { ...body, ...more })
  expect(await send({ ttl_seconds: 0 })).toMatchObject({ status: 422 })
  expect(await send({ content: 'stays', ttl_seconds: null })).toMatchObject({ status: 201 })
  expect(await send({})).toMatchObject({ status: 201 })
  const unread = async () =>
    (await mailbox(parley(), alice.name, { headers: { 'X-API-Key': alice.key } }).check())?.content
  await expect.poll(unread, { interval: 5 }).toMatch(notice(bob))
  expect(await mailbox(parley(), bob).check()).toMatchObject({ content: 'stays' })
  expect(await mailbox(parley(), bob).check()).toBeNull()
})
