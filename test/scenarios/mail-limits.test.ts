/** Too much, too deep, too long: the mail door says so, writes nothing, and goes on. */
import { afterEach, beforeEach, describe, expect } from 'vitest'
import { countRows } from '../support/counting.ts'
import { type Desk, type Message, newDesk, type Receipt } from '../support/mail.ts'
import { shareParley } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask } from '../support/wire.ts'

const parley = shareParley({ env: { LOG_LEVEL: 'warn' } })

type Json = Record<string, unknown>

interface Told {
  code: string
  message: string
  hint: string
}

const MiB = 1024 * 1024
let desk: Desk
let there: { project_key: string }

beforeEach(async () => {
  desk = await newDesk(parley())
  there = { project_key: desk.project }
})

/** Whatever was sent, the server is there, answers others, and had no error of its own. */
afterEach(async () => {
  expect(parley().child.exitCode).toBeNull()
  expect(await desk.door.call('health_check')).toMatchObject({ status: 'ok' })
  expect(parley().output.stderr).not.toContain('"level":50')
})

const stored = () => countRows(parley().storage)

/** The error of a tool or a resource. */
const told = (work: Promise<unknown>): Promise<Told> =>
  work.then(
    (value) => Promise.reject(new Error(`it was answered: ${JSON.stringify(value).slice(0, 200)}`)),
    (error: Told & { data?: Omit<Told, 'message'> }) => ({ ...error, ...error.data }),
  )

const message = (more: Json = {}): Json => ({
  ...there,
  sender_name: 'GreenCastle',
  to: ['BlueLake'],
  subject: 'Plan',
  body_md: 'hello',
  ...more,
})

describe('What is too much', () => {
  verifies('mail.attack.size', 'a body of 1 MiB is taken, one byte more is refused', async () => {
    const body = `${'é'.repeat(MiB / 2 - 4)}\n"\\<&>`.padEnd(MiB / 2 + 4, '.').slice(0, MiB / 2)
    const whole = body + 'x'.repeat(MiB - Buffer.byteLength(body))
    expect(Buffer.byteLength(whole)).toBe(MiB)
    const { message_id } = await desk.door.call<Receipt>('send_message', message({ body_md: whole }))
    const [got] = await desk.inbox('BlueLake', { include_bodies: true })
    expect(got?.id).toBe(message_id)
    const { body_md } = await desk.door.read<Message>(`resource://message/${message_id}?project=${desk.project}`)
    expect(body_md === whole).toBe(true)
    const before = stored()
    expect(await told(desk.door.call('send_message', message({ body_md: `${whole}x` })))).toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    const answer = { ...there, message_id, sender_name: 'BlueLake', body_md: `${whole}x` }
    expect(await told(desk.door.call('reply_message', answer))).toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(stored()).toEqual(before)
  })

  verifies('mail.attack.size', 'a hundred recipients are reached, a hundred and one are refused', async () => {
    const names = Array.from({ length: 101 }, (_, n) => `reader-${n}`)
    const before = stored()
    for (const list of ['to', 'cc', 'bcc'])
      expect(await told(desk.door.call('send_message', message({ [list]: names })))).toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
    expect(stored()).toEqual(before)
    const sent = await desk.door.call<Receipt>('send_message', message({ to: names.slice(1) }))
    expect(sent).toMatchObject({ count: 100, blocked: [] })
    expect(await desk.inbox('reader-100')).toMatchObject([{ id: sent.message_id }])
  })

  verifies('mail.attack.size', 'what is no text, or too long for its place, is refused everywhere', async () => {
    const before = stored()
    const green = { ...there, agent_name: 'GreenCastle' }
    const contact = { ...there, from_agent: 'GreenCastle', to_agent: 'BlueLake' }
    const places: Record<string, (text: string) => Promise<unknown>> = {
      subject: (text) => desk.door.call('send_message', message({ subject: text })),
      body: (text) => desk.door.call('send_message', message({ body_md: text })),
      thread: (text) => desk.door.call('send_message', message({ thread_id: text })),
      'client id': (text) => desk.door.call('send_message', message({ client_message_id: text })),
      recipient: (text) => desk.door.call('send_message', message({ to: [text] })),
      'project of a recipient': (text) => desk.door.call('send_message', message({ to: [`BlueLake@${text}`] })),
      project: (text) => desk.door.call('ensure_project', { human_key: text }),
      program: (text) => desk.door.call('register_agent', { ...there, program: text }),
      task: (text) => desk.door.call('register_agent', { ...there, task_description: text }),
      'reason of a lease': (text) => desk.door.call('file_reservation_paths', { ...green, paths: ['a'], reason: text }),
      path: (text) => desk.door.call('file_reservation_paths', { ...green, paths: [text] }),
      'reason of a contact': (text) => desk.door.call('request_contact', { ...contact, reason: text }),
      model: (text) => desk.door.call('summarize_thread', { ...there, thread_id: 'x', llm_model: text }),
      summary: (text) => desk.door.call('summarize_thread', { ...there, thread_id: text }),
    }
    for (const [place, put] of Object.entries(places))
      for (const text of ['a\u0000b', '\ud83d', 'x\udc00y', 'x'.repeat(2 * MiB)])
        expect(await told(put(text)), `${place}: ${JSON.stringify(text.slice(0, 9))}`).toMatchObject({
          code: 'INVALID_ARGUMENT',
        })
    expect(stored()).toEqual(before)
  })

  verifies('mail.attack.size', 'a number beyond all measure breaks nothing', async () => {
    const green = { ...there, agent_name: 'GreenCastle' }
    const numbers = [Number.MAX_SAFE_INTEGER, 2 ** 53, 1e18, 1e300, 253_402_300_800]
    // Whether it is cut or refused: it is no error of the server's.
    const outcome = (work: Promise<unknown>) =>
      work.then(
        () => 'ok',
        (error: Told & { data?: Told }) => error.data?.code ?? error.code,
      )
    for (const number of numbers) {
      const calls: [string, Json][] = [
        ['file_reservation_paths', { ...green, paths: ['src/**'], ttl_seconds: number }],
        ['renew_file_reservations', { ...green, extend_seconds: number }],
        ['renew_file_reservations', { ...green, extend_seconds: number }],
        ['release_file_reservations', { ...green, file_reservation_ids: [number] }],
        ['request_contact', { ...there, from_agent: 'GreenCastle', to_agent: 'RedStone', ttl_seconds: number }],
        [
          'respond_contact',
          { ...there, from_agent: 'GreenCastle', to_agent: 'RedStone', accept: true, ttl_seconds: number },
        ],
        ['list_contacts', green],
        ['list_agents', { ...there, active_within_seconds: number }],
        ['mark_message_read', { ...green, message_id: number }],
        ['fetch_inbox', { ...green, limit: number }],
        ['search_messages', { ...there, query: 'x', limit: number }],
      ]
      for (const [tool, args] of calls)
        expect(['ok', 'INVALID_ARGUMENT', 'MESSAGE_NOT_FOUND'], `${tool} ${number}`).toContain(
          await outcome(desk.door.call(tool, args)),
        )
      for (const path of [`message/${number}`, `thread/${number}`, `views/acks-stale/BlueLake?ttl_seconds=${number}`])
        expect(['ok', 'INVALID_ARGUMENT', 'MESSAGE_NOT_FOUND', 'THREAD_NOT_FOUND'], path).toContain(
          await outcome(desk.door.read(`resource://${path}${path.includes('?') ? '&' : '?'}project=${desk.project}`)),
        )
    }
    const leases = await desk.door.read(`resource://file_reservations/${encodeURIComponent(desk.project)}`)
    expect(leases).toEqual(expect.any(Array))
  })

  verifies('mail.attack.size', 'JSON as deep as it may be long is refused, not followed', async () => {
    const before = stored()
    const headers = { 'Content-Type': 'application/json' }
    for (const deep of [
      '['.repeat(500_000) + ']'.repeat(500_000),
      `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`,
    ]) {
      const call = (args: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_message","arguments":${args}}}`
      const bodies = [
        call(deep),
        call(`{"project_key":${deep}}`),
        call(JSON.stringify(message()).replace('"hello"', deep)),
        call(JSON.stringify(message({ extra: 0 })).replace('"extra":0', `"extra":${deep}`)),
        `{"jsonrpc":"2.0","id":${deep},"method":"ping"}`,
        `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":${deep}}}`,
        `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${deep}}}`,
        deep,
      ]
      for (const body of bodies) {
        const { status } = await ask(parley(), { method: 'POST', path: '/mcp', headers, body })
        expect([200, 202, 400, 413], body.slice(0, 60)).toContain(status)
      }
    }
    expect(stored()).toEqual(before)
  })

  verifies('mail.attack.size', 'patterns made to take for ever are answered soon, and others meanwhile', async () => {
    // As many wildcards as a pattern may have, and then more.
    const parts = { '{a,b}': 15, '*a': 15, '**/a*/': 7, '?*': 7, '[a-z]*': 7, '{*,**,a*}/': 3, '{,a}': 15 }
    const most = Object.entries(parts).map(([part, times]) => part.repeat(times))
    const beyond = Object.keys(parts).map((part) => part.repeat(Math.floor(500 / part.length)))
    const nested = `${'{a,'.repeat(150)}b${'}'.repeat(150)}`
    const paths = [...most, ...most.map((path) => `x${path}z`), ...beyond, nested]
    const reserve = (agent_name: string, list: string[]) =>
      desk.door.call('file_reservation_paths', { ...there, agent_name, paths: list }).catch((error: Told) => error)
    const answers: unknown[] = []
    for (const path of paths) {
      const began = performance.now()
      answers.push(await reserve('GreenCastle', [path]))
      const meanwhile = reserve('BlueLake', [path])
      await desk.door.call('whois', { ...there, agent_name: 'RedStone' })
      await meanwhile
      expect(performance.now() - began, path.slice(0, 40)).toBeLessThan(5_000)
    }
    const granted = paths.filter((_, n) => 'granted' in (answers[n] as object))
    expect(granted.length, 'some are patterns like others').toBeGreaterThan(5)
    const began = performance.now()
    await Promise.all([reserve('RedStone', granted), desk.inbox('BlueLake'), reserve('BlueLake', granted)])
    expect(performance.now() - began).toBeLessThan(10_000)
  })

  verifies('mail.attack.size', 'many patterns that are hard to tell apart keep nobody else waiting', async () => {
    const { door, project } = desk
    const hard = (agent_name: string, count: number) =>
      door.call('file_reservation_paths', {
        project_key: project,
        agent_name,
        paths: Array.from({ length: count }, (_, n) => `${'**/a*/'.repeat(7)}**/[${agent_name[0]}]${n}`),
      })
    await hard('GreenCastle', 100)
    const asked = hard('BlueLake', 50).catch((error: Told) => error)
    const began = performance.now()
    // More than one, because the first may come before the work begins.
    for (let n = 0; n < 5; n++) await door.call('whois', { project_key: project, agent_name: 'RedStone' })
    await door.call('send_message', { ...message(), project_key: project })
    expect(performance.now() - began).toBeLessThan(5_000)
    // Nobody compares for ever: what is too hard is refused, and changes nothing.
    expect(await asked).toMatchObject({ code: 'INVALID_ARGUMENT', hint: expect.stringContaining('fewer') })
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})
