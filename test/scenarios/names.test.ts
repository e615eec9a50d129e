/** A thread and a message have the same name wherever they are shown. */
import { expect } from 'vitest'
import { httpPeer } from '../support/bus.ts'
import { type Message, newProject, type Page, plainMail, type Receipt } from '../support/mail.ts'
import { shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

verifies('access.names.one', 'a topic, a named thread and an answered message go by one name each', async () => {
  const project_key = newProject()
  const mail = plainMail(parley())
  for (const name of ['GreenCastle', 'BlueLake']) await mail.call('register_agent', { project_key, name })
  const bus = httpPeer(parley(), `?agent=GreenCastle&project=${encodeURIComponent(project_key)}`)
  const topic_id = await bus.join('GreenCastle', 'plan of the week')
  await bus.send(topic_id, 'zebra in the topic')
  const send = (sender_name: string, to: string, subject: string, more: object) =>
    mail.call<Receipt>('send_message', { project_key, sender_name, to: [to], subject, ...more })
  await send('GreenCastle', 'BlueLake', 'Ticket', { body_md: 'zebra in a ticket', thread_id: 'TKT-1' })
  const first = await send('GreenCastle', 'BlueLake', 'Question', { body_md: 'zebra in a question' })
  await mail.call('reply_message', {
    project_key,
    sender_name: 'BlueLake',
    message_id: first.message_id,
    body_md: 'zebra in the answer',
  })

  const hits = await mail.call<Message[]>('search_messages', { project_key, query: 'zebra' })
  const named = (list: readonly Message[]) => list.map(({ id, thread_id, subject }) => ({ id, thread_id, subject }))
  const byId = (a: { id: number }, b: { id: number }) => a.id - b.id
  const found = named(hits).sort(byId)
  expect(found.map(({ thread_id, subject }) => [thread_id, subject])).toEqual([
    [topic_id, 'plan of the week'],
    ['TKT-1', 'Ticket'],
    [String(first.message_id), 'Question'],
    [String(first.message_id), 'Re: Question'],
  ])
  const shown: Message[] = []
  for (const thread of [topic_id, 'TKT-1', String(first.message_id)]) {
    const uri = `resource://thread/${thread}?project=${encodeURIComponent(project_key)}`
    shown.push(...(await mail.read<Page>(uri)).messages)
    const { examples } = await mail.call<{ examples: { subject: string }[] }>('summarize_thread', {
      project_key,
      thread_id: thread,
      include_examples: true,
    })
    expect(examples.map(({ subject }) => subject)).toEqual(
      found.filter(({ thread_id }) => thread_id === thread).map(({ subject }) => subject),
    )
  }
  expect(named(shown).sort(byId)).toEqual(found)
})
