/** Answers: by each door to a message that came by each door, and loops that answer for ever under one id. */
import { describe, expect } from 'vitest'
import { hubDoorOf } from '../support/hub-door.ts'
import type { Message, Receipt } from '../support/mail.ts'
import { callTool, mailbox, type Served } from '../support/parley.ts'
import { eachPost, freshName, type PostAgent, register } from '../support/post.ts'
import { verifies } from '../support/verifies.ts'

interface ThreadsOf {
  threads: { thread: string; last_seq: number }[]
}

/** One agent of the commons at all four doors, by its key. */
function everywhere(parley: Served, agent: PostAgent) {
  const { name, key } = agent
  const headers = { 'X-API-Key': key }
  const hub = hubDoorOf(parley, name, { headers })
  const mail = async <Value>(tool: string, args: object): Promise<Value> => {
    const { structuredContent, isError } = await callTool(
      `${parley.url}/mcp`,
      tool,
      { project_key: 'commons', ...args },
      { headers },
    )
    if (isError) throw (structuredContent as { error: unknown }).error
    return structuredContent as Value
  }
  return {
    name,
    post: agent,
    hub,
    mail,
    mailbox: mailbox(parley, name, { headers }),
    threads: async () => (await hub.read<ThreadsOf>(`apm2://agents/${name}`)).threads,
    inbox: async () => (await mail<{ result: Message[] }>('fetch_inbox', { agent_name: name })).result,
  }
}

type Everywhere = ReturnType<typeof everywhere>

const doors = ['mailbox', 'mail', 'hub', 'post'] as const

const ask: Record<(typeof doors)[number], (from: Everywhere, to: string) => Promise<unknown>> = {
  mailbox: (from, to) => from.mailbox.send(to, 'question'),
  mail: (from, to) =>
    from.mail<Receipt>('send_message', { sender_name: from.name, to: [to], subject: 'Plan', body_md: 'question' }),
  hub: (from, to) => from.hub.send(to, 'question'),
  post: (from, to) => from.post.send({ name: to }, 'Plan', 'question'),
}

/** Each takes the message at its own door, and answers with what it is shown there. */
const answer = {
  'mailbox by msg_id': async (from: Everywhere, to: string) =>
    from.mailbox.send(to, 'answer', (await from.mailbox.check())?.id),
  'mailbox by reply_to': async (from: Everywhere, to: string) =>
    from.mailbox.send(to, 'answer', undefined, (await from.mailbox.check())?.id),
  'mailbox by reply_to, a number': async (from: Everywhere, to: string) =>
    from.mailbox.send(to, 'answer', undefined, (await from.inbox())[0]?.id),
  'mailbox by the number of mail': async (from: Everywhere, to: string) =>
    from.mailbox.send(to, 'answer', String((await from.inbox())[0]?.id)),
  mail: async (from: Everywhere) =>
    from.mail('reply_message', {
      sender_name: from.name,
      message_id: (await from.inbox())[0]?.id,
      body_md: 'answer',
    }),
  hub: async (from: Everywhere, to: string) => {
    const [thread] = await from.threads()
    const { messages } = await from.hub.thread(thread?.thread ?? '')
    return from.hub.send(to, 'answer', { reply_to: messages[0]?.message_id })
  },
  post: async (from: Everywhere, to: string) => {
    const { body } = await from.post.inbox()
    const sent = await from.post.send({ name: to }, undefined, 'answer', { session_id: body.sessions[0].session_id })
    expect(sent).toMatchObject({ status: 201 })
  },
}

eachPost('Answers', (parley) => {
  /** The one who asks takes mail from contacts only: an answer is let in because it is one. */
  async function strangers() {
    const asker = everywhere(parley(), await register(parley(), 'asker'))
    const answerer = everywhere(parley(), await register(parley(), 'answerer'))
    await answerer.mail('set_contact_policy', { agent_name: answerer.name, policy: 'open' })
    return { asker, answerer }
  }

  describe.each(doors)('to a message by %s', (door) => {
    for (const [how, reply] of Object.entries(answer))
      verifies(['mailbox.send.reply', 'mailbox.send.answer'], `are in its thread, also by ${how}`, async () => {
        const { asker, answerer } = await strangers()
        await ask[door](asker, answerer.name)
        await reply(answerer, asker.name)
        // One thread, with both messages in it.
        const [only, ...others] = await asker.threads()
        expect([only?.last_seq, others]).toEqual([2, []])
        const { messages } = await asker.hub.thread(only?.thread ?? '')
        expect(messages).toMatchObject([{ text: 'question' }, { text: 'answer' }])
        const [question] = messages
        expect(messages[1]?.reply_to).toBe(how === 'post' ? null : question?.message_id)
        // The same thread in mail, and in the session of the post door.
        expect((await asker.inbox())[0]).toMatchObject({ thread_id: String(question?.message_id) })
        const { sessions } = (await asker.post.inbox()).body
        expect(sessions).toHaveLength(1)
        expect((await asker.post.history(sessions[0].session_id)).body.messages).toMatchObject([
          { content: 'answer' },
          { content: 'question' },
        ])
        // The waiting agent has the reply.
        const asked = { message_id: question?.message_id, wait_seconds: 0 }
        expect(await asker.hub.call('apm2.message.ask', asked)).toMatchObject({ reply: { text: 'answer' } })
      })
  })

  verifies('mailbox.send.reply', 'nobody answers what was sent to others', async () => {
    const { asker, answerer } = await strangers()
    await ask.mailbox(asker, answerer.name)
    const [seen] = await answerer.inbox()
    const third = everywhere(parley(), await register(parley(), 'third'))
    for (const id of [(await answerer.mailbox.check())?.id ?? '', String(seen?.id)]) {
      await expect(third.mailbox.send(asker.name, 'me too', id)).rejects.toMatchObject({ code: 'CONTACT_REQUIRED' })
      await expect(third.mailbox.send(asker.name, 'me too', undefined, id)).rejects.toMatchObject({
        code: 'MESSAGE_NOT_FOUND',
        hint: expect.stringContaining('reply_to'),
      })
    }
  })

  const turns = 50

  /** Two loops take turns; every fifth answer is sent again, and every seventh three times at once. */
  async function converse(
    say: (turn: number) => string,
    naming: (received: string | undefined, turn: number) => [msgId?: string | undefined, replyTo?: string | undefined],
    retried: boolean,
  ) {
    const names = [freshName('alice'), freshName('bob')] as const
    const boxes = names.map((name) => mailbox(parley(), name))
    const heard: string[] = []
    let received: string | undefined
    for (let turn = 0; turn < turns; turn++) {
      const [me, other] = turn % 2 === 0 ? [0, 1] : [1, 0]
      const send = () => boxes[me]?.send(names[other as 0 | 1], say(turn), ...naming(received, turn))
      const ids = retried && turn % 7 === 6 ? await Promise.all([send(), send(), send()]) : [await send()]
      if (retried && turn % 5 === 4) ids.push(await send())
      expect(new Set(ids).size).toBe(1)
      const mail = await boxes[other]?.check()
      expect(mail?.id).toBe(ids[0])
      heard.push(mail?.content ?? '')
      received = mail?.id
    }
    expect(heard).toEqual(Array.from({ length: turns }, (_, turn) => say(turn)))
    for (const box of boxes) expect(await box.check()).toBeNull()
    const { threads } = await hubDoorOf(parley(), names[0]).read<ThreadsOf>(`apm2://agents/${names[0]}`)
    expect(threads).toMatchObject([{ last_seq: turns }])
  }

  verifies('mailbox.done.same-id', 'loops that answer under one msg_id for ever lose nothing', () =>
    converse(
      (turn) => `turn ${turn}`,
      () => ['the-same'],
      true,
    ),
  )

  verifies('mailbox.done.same-id', 'nor do those that answer under the id of each message', () =>
    converse(
      (turn) => `turn ${turn}`,
      (received) => [received],
      true,
    ),
  )

  verifies(['mailbox.done.same-id', 'mailbox.send.reply-to'], 'nor those that say the same again, by reply_to', () =>
    converse(
      () => 'ok',
      (received) => [undefined, received],
      false,
    ),
  )

  verifies('mailbox.send.reply-to', 'with a msg_id of its own an answer by reply_to can be sent again', () =>
    converse(
      () => 'ok',
      (received, turn) => [`turn-${turn}`, received],
      true,
    ),
  )
})
