/** Sends that wait for the reply, at the mail and mailbox doors, in both eras and by plain calls. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import { connectMail, type Message, newProject } from '../support/mail.ts'
import {
  callTool,
  connectClient,
  eras,
  type Mail,
  mailbox,
  serveHere,
  shareServer,
  startParley,
  temporaryFolder,
  waitingCalls,
} from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer({ env: { MAX_WAIT_SECONDS: '20' } })
const waiting = (count: number) => expect.poll(() => waitingCalls(parley()), { interval: 5 }).toBe(count)

let count = 0
const pair = () => {
  count++
  return [`alice-${count}`, `bob-${count}`] as const
}

interface Asked {
  result: string
  reply: Mail | null
}

interface MailAsked {
  message_id: number
  client_message_id: string
  duplicate?: true
  reply: (Message & { body_md: string }) | null
}

describe.each(eras)('In %s', (era) => {
  verifies(
    ['ask.reply.waited', 'ask.reply.marked', 'ask.reply.resumed'],
    'send_to_agent answers with the reply, which is taken; a repeated call gives it again',
    async () => {
      const [alice, bob] = pair()
      const client = await connectClient(`${parley().url}/agents/${alice}/mcp`, era)
      const ask = async (args: object) =>
        (await client.callTool({ name: 'send_to_agent', arguments: { name: bob, msg: 'well?', ...args } }))
          .structuredContent as unknown as Asked
      const first = await ask({ wait_reply_seconds: 0 })
      expect(first).toMatchObject({ result: expect.any(String), reply: null })
      const again = ask({ wait_reply_seconds: 20, msg_id: first.result })
      await waiting(1)
      const mail = await mailbox(parley(), bob).check()
      await mailbox(parley(), bob).send(alice, 'yes', undefined, mail?.id)
      expect(await again).toMatchObject({ result: first.result, reply: { from: bob, content: 'yes' } })
      expect(await mailbox(parley(), alice).check()).toBeNull()
      expect((await ask({ wait_reply_seconds: 20, msg_id: first.result })).reply).toMatchObject({ content: 'yes' })
      expect(await mailbox(parley(), bob).check()).toBeNull()
    },
  )

  verifies(
    ['ask.reply.waited', 'ask.reply.marked', 'ask.reply.resumed'],
    'send_message and reply_message answer with the reply, which is delivered and unread',
    async () => {
      const project = newProject()
      const [alice, bob] = [await connectMail(parley(), era), await connectMail(parley(), era)]
      await alice.call('ensure_project', { human_key: project })
      const { name } = await alice.call<{ name: string }>('register_agent', { project_key: project })
      const { name: other } = await bob.call<{ name: string }>('register_agent', { project_key: project })
      const own = { project_key: project, sender_name: name }
      const letter = { ...own, to: [other], subject: 'Plan', body_md: 'well?' }
      const first = await alice.call<MailAsked>('send_message', { ...letter, wait_reply_seconds: 0 })
      expect(first).toMatchObject({ client_message_id: expect.any(String), reply: null })
      const { client_message_id } = first
      const again = alice.call<MailAsked>('send_message', { ...letter, client_message_id, wait_reply_seconds: 20 })
      await waiting(1)
      const answer = { project_key: project, sender_name: other, message_id: first.message_id, body_md: 'yes' }
      const back = bob.call<MailAsked>('reply_message', { ...answer, wait_reply_seconds: 20 })
      const asked = await again
      expect(asked).toMatchObject({ message_id: first.message_id, duplicate: true, client_message_id })
      expect(asked.reply).toMatchObject({ from: other, body_md: 'yes', subject: 'Re: Plan', read_ts: null, kind: 'to' })
      const inbox = await alice.call<Message[]>('fetch_inbox', { project_key: project, agent_name: name })
      expect(inbox).toMatchObject([{ id: asked.reply?.id, read_ts: null }])
      await waiting(1)
      await alice.call('reply_message', { ...own, message_id: asked.reply?.id, body_md: 'good' })
      expect((await back).reply).toMatchObject({ from: name, body_md: 'good' })
    },
  )
})

verifies('ask.reply.short', 'The short form answers {id, reply} where it waits, and else the bare id', async () => {
  const [alice, bob] = pair()
  const short = async (args: object) =>
    (
      await fetch(`${parley().url}/agents/${alice}/mcp`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ tool: 'send_to_agent', args: { name: bob, ...args } }),
      })
    ).json()
  expect(await short({ msg: 'hello', msg_id: 'a' })).toBe('a')
  expect(await short({ msg: 'well?', msg_id: 'b', wait_reply_seconds: 0.01 })).toEqual({ id: 'b', reply: null })
  await mailbox(parley(), bob).send(alice, 'yes', undefined, 'b')
  expect(await short({ msg: 'well?', msg_id: 'b', wait_reply_seconds: 5 })).toEqual({
    id: 'b',
    reply: { id: expect.any(String), from: bob, content: 'yes', created: expect.any(String) },
  })
})

verifies('ask.reply.lost', 'A client that hangs up while it waits finds the reply in its mailbox', async () => {
  const [alice, bob] = pair()
  const params = { name: 'send_to_agent', arguments: { name: bob, msg: 'well?', msg_id: 'q', wait_reply_seconds: 20 } }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const { port } = parley()
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    `POST /agents/${alice}/mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  await waiting(1)
  socket.destroy()
  await waiting(0)
  await mailbox(parley(), bob).send(alice, 'yes', undefined, 'q')
  expect(await mailbox(parley(), alice).check()).toMatchObject({ content: 'yes' })
})

verifies('ask.reply.resumed', 'A call that died with its server goes on at the next one', async () => {
  const storage = await temporaryFolder()
  const dying = await startParley({ storage })
  const args = { name: 'bob', msg: 'well?', msg_id: 'q', wait_reply_seconds: 20 }
  const lost = callTool(`${dying.url}/agents/alice/mcp`, 'send_to_agent', args).catch(() => 'lost')
  expect(await mailbox(dying, 'bob').check({ wait_seconds: 20 })).toMatchObject({ id: 'q' })
  await mailbox(dying, 'bob').send('carol', 'meanwhile')
  await dying.end('SIGKILL')
  expect(await lost).toBe('lost')
  const next = await serveHere({ storage })
  const asked = callTool(`${next.url}/agents/alice/mcp`, 'send_to_agent', args)
  await expect.poll(() => waitingCalls(next), { interval: 5 }).toBe(1)
  await mailbox(next, 'bob').send('alice', 'yes', undefined, 'q')
  expect((await asked).structuredContent).toMatchObject({ result: 'q', reply: { content: 'yes' } })
  expect(await mailbox(next, 'bob').check()).toBeNull()
})
