/** Faulty calls of the mail door: each is answered with a code and a hint, and nothing is written. */
import { expect } from 'vitest'
import { countRows } from '../support/counting.ts'
import { type MailDoor, newDesk } from '../support/mail.ts'
import { shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()
const stored = () => countRows(parley().storage)

type Json = Record<string, unknown>
type Attempt = (door: MailDoor) => Promise<unknown>

interface Told {
  code: string
  message: string
  hint: string
}

/** The error of a tool or a resource. */
const told = (work: Promise<unknown>): Promise<Told | 'answered'> =>
  work.then(
    () => 'answered' as const,
    (error: Told & { data?: Omit<Told, 'message'> }) => ({ ...error, ...error.data }),
  )

const letterIn = (project_key: string, more: Json = {}): Json => ({
  project_key,
  sender_name: 'GreenCastle',
  to: ['BlueLake'],
  subject: 'Plan',
  body_md: 'hello',
  ...more,
})

/** Calls that are wrong in one way each, in a project where RedStone has had no mail. */
function wrongCalls(project: string, message_id: number): Record<string, [code: string, attempt: Attempt]> {
  const there = { project_key: project }
  const nowhere = { project_key: '/nowhere/at/all' }
  const green = { ...there, agent_name: 'GreenCastle' }
  const here = `project=${project}`
  const call =
    (tool: string, args: Json): Attempt =>
    (door) =>
      door.call(tool, args)
  const send = (more: Json) => call('send_message', letterIn(project, more))
  const reserve = (more: Json) => call('file_reservation_paths', { ...green, paths: ['a'], ...more })
  const inbox = (more: Json) => call('fetch_inbox', { ...green, ...more })
  const read =
    (path: string): Attempt =>
    (door) =>
      door.read(`resource://${path}`)
  const contact = { ...there, from_agent: 'GreenCastle' }
  // biome-ignore format: a table, one fault a line
  return {
    'sending in no project': ['PROJECT_NOT_FOUND', send(nowhere)],
    'the inbox of no project': ['PROJECT_NOT_FOUND', inbox(nowhere)],
    'a search in no project': ['PROJECT_NOT_FOUND', call('search_messages', { ...nowhere, query: 'x' })],
    'a lease in no project': ['PROJECT_NOT_FOUND', reserve(nowhere)],
    'a thread of no project': ['PROJECT_NOT_FOUND', read('thread/x?project=/nowhere/at/all')],
    'no project': ['PROJECT_NOT_FOUND', read('project/nowhere')],
    'the leases of no project': ['PROJECT_NOT_FOUND', read('file_reservations/nowhere')],
    'a sender that is unknown': ['AGENT_NOT_FOUND', send({ sender_name: 'NoBody' })],
    'the inbox of nobody': ['AGENT_NOT_FOUND', inbox({ agent_name: 'NoBody' })],
    'whois nobody': ['AGENT_NOT_FOUND', call('whois', { ...there, agent_name: 'NoBody' })],
    'contact with nobody': ['AGENT_NOT_FOUND', call('request_contact', { ...contact, to_agent: 'NoBody' })],
    'an answer that nobody asked for': ['CONTACT_NOT_FOUND', call('respond_contact', { ...contact, to_agent: 'RedStone', accept: true })],
    'the inbox of nobody, read': ['AGENT_NOT_FOUND', read(`inbox/NoBody?${here}`)],
    'nobody elsewhere, and a newcomer': ['AGENT_NOT_FOUND', send({ to: [`NoBody@${project}`, 'FirstGuest'] })],
    'a newcomer, and nobody elsewhere': ['AGENT_NOT_FOUND', send({ to: ['OtherGuest', `NoBody@${project}`] })],
    'a newcomer, and no project': ['PROJECT_NOT_FOUND', send({ to: ['ThirdGuest', 'BlueLake@/nowhere'] })],
    'a reply to nothing': ['MESSAGE_NOT_FOUND', call('reply_message', { ...there, sender_name: 'BlueLake', message_id: 99_999, body_md: 'x' })],
    'nothing marked as read': ['MESSAGE_NOT_FOUND', call('mark_message_read', { ...green, message_id: 99_999 })],
    'the mail of others': ['MESSAGE_NOT_FOUND', call('acknowledge_message', { ...there, agent_name: 'RedStone', message_id })],
    'no message': ['MESSAGE_NOT_FOUND', read(`message/99999?${here}`)],
    'no thread': ['THREAD_NOT_FOUND', read(`thread/none?${here}`)],
    'a summary of nothing': ['THREAD_NOT_FOUND', call('summarize_thread', { ...there, thread_id: 'none' })],
    'preparing as nobody': ['INVALID_ARGUMENT', call('macro_prepare_thread', { ...there, thread_id: 'none', register_if_missing: false })],
    'half a welcome': ['INVALID_ARGUMENT', call('macro_contact_handshake', { ...there, requester: 'GreenCastle', target: 'BlueLake', welcome_body: 'hello' })],
    'a recipient in no project': ['PROJECT_NOT_FOUND', send({ to: ['BlueLake@nowhere'] })],
    'an unknown parameter': ['INVALID_ARGUMENT', read(`inbox/BlueLake?${here}&colour=red`)],
    'a bad glob beside a good one': ['INVALID_ARGUMENT', reserve({ paths: ['ok/**', 'src/{a'] })],
    'a glob that leads out': ['INVALID_ARGUMENT', reserve({ paths: ['../other/**'] })],
    'a bad glob in a macro': ['INVALID_ARGUMENT', call('macro_start_session', { human_key: '/new/one', file_reservation_paths: ['{a'] })],
    'a lease for no time': ['INVALID_ARGUMENT', reserve({ ttl_seconds: 0 })],
    'a lease for less than no time': ['INVALID_ARGUMENT', reserve({ ttl_seconds: -5 })],
    'one empty path of a hundred': ['INVALID_ARGUMENT', reserve({ paths: [...Array.from({ length: 99 }, (_, n) => `d${n}/**`), ''] })],
    'a bad time': ['INVALID_ARGUMENT', inbox({ since_ts: 'yesterday' })],
    'a day that is none': ['INVALID_ARGUMENT', inbox({ since_ts: '2026-13-41T99:00:00Z' })],
    'a bad time, read': ['INVALID_ARGUMENT', read(`inbox/BlueLake?${here}&since_ts=soon`)],
    'a negative limit': ['INVALID_ARGUMENT', inbox({ limit: -1 })],
    'a negative limit of a search': ['INVALID_ARGUMENT', call('search_messages', { ...there, query: 'x', limit: -5 })],
    'a negative limit, read': ['INVALID_ARGUMENT', read(`inbox/BlueLake?${here}&limit=-1`)],
    'a negative id': ['INVALID_ARGUMENT', call('mark_message_read', { ...green, message_id: -1 })],
    'a bad importance': ['INVALID_ARGUMENT', send({ importance: 'deadly' })],
    'a bad policy': ['INVALID_ARGUMENT', call('set_contact_policy', { ...green, policy: 'maybe' })],
    'nobody to write to': ['INVALID_ARGUMENT', send({ to: [] })],
    'one bad name of two': ['INVALID_ARGUMENT', send({ cc: ['RedStone', 'not a name'] })],
    'an empty body': ['INVALID_ARGUMENT', send({ body_md: '' })],
    'an empty subject': ['INVALID_ARGUMENT', send({ subject: ' ' })],
    'an unknown argument': ['INVALID_ARGUMENT', send({ urgency: 1 })],
    'contact with oneself': ['INVALID_ARGUMENT', call('request_contact', { ...contact, to_agent: 'GreenCastle' })],
  }
}

verifies('mail.attack.errors', 'What is wrong has a code and a hint with a next call, and writes nothing', async () => {
  const { door, project, send } = await newDesk(parley())
  const { message_id } = await send()
  const { tools } = await door.read<{ tools: Record<string, { required: string[] }> }>('resource://tooling/schemas')
  // Another tool by name, a resource, or what to give the same one.
  const named = Object.entries(tools).flatMap(([tool, { required }]) => [tool, ...required])
  const next = new RegExp([...named, 'resource://', 'Parameters of this resource'].join('|'))
  let before = stored()
  for (const [name, [code, attempt]] of Object.entries(wrongCalls(project, message_id))) {
    const error = { code, message: expect.any(String), hint: expect.stringMatching(next) }
    expect.soft(await told(attempt(door)), name).toMatchObject(error)
    expect.soft(stored(), `${name} writes nothing`).toEqual(before)
    before = stored()
  }
})
