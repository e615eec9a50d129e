/** Hints of the mail door: each names only calls that its reader can make, whichever list of tools it was offered. */
import { describe, expect, test } from 'vitest'
import { type Code, codes, HubError, type Reason } from '../../../src/base/errors.ts'
import type { Hub } from '../../../src/core/hub/hub.ts'
import type { About } from '../../../src/doors/mail/about.ts'
import { hints } from '../../../src/doors/mail/calls.ts'
import { instructions, offers } from '../../../src/doors/mail/clusters.ts'
import { mailDoor } from '../../../src/doors/mail/door.ts'
import { hintOf } from '../../../src/doors/mcp/table.ts'
import { type MailDoor, newDesk, plainMail } from '../../support/mail.ts'
import { callTool, serveHere, shareServer } from '../../support/parley.ts'
import { register } from '../../support/post.ts'
import { verifies } from '../../support/verifies.ts'

const door = mailDoor({} as Hub, {} as About)
const argumentsOf = new Map(door.tools.map((tool) => [tool.name, new Set(Object.keys(tool.input.shape))]))
const everyTool = [...argumentsOf.keys()]
const everyArgument = new Set([...argumentsOf.values()].flatMap((names) => [...names]))

const lists: Readonly<Record<string, ReadonlySet<string>>> = {
  all: new Set(everyTool),
  core: offers.core.tools,
  macros: offers.macros.tools,
}

/** Words such as `list_agents` and `project_key`: tools, arguments, or neither. */
const names = (text: string): string[] =>
  text.replaceAll(/"[^"]*"/g, '').match(/\b(?:[a-z]+(?:_[a-z]+)+|whois)\b/g) ?? []

/** The tools and arguments in a text that a reader of this list cannot use after a call of this tool. */
function unusable(text: string, offered: ReadonlySet<string>, called?: string): string[] {
  const tools = names(text).filter((name) => argumentsOf.has(name))
  const taken = [...tools, called ?? ''].flatMap((tool) => [...(argumentsOf.get(tool) ?? [])])
  const usable = new Set([...offered, ...taken])
  return names(text).filter((name) => !usable.has(name))
}

describe.each(Object.keys(lists))('of the list %s', (list) => {
  const offered = lists[list] ?? new Set<string>()

  verifies('mail.hints.offered', 'every hint names what is offered, after every call', () => {
    const faults: string[] = []
    for (const key of Object.keys(hints) as (Code | Reason)[])
      for (const called of [undefined, ...offered]) {
        const [code, reason] = key in codes ? [key as Code, undefined] : ['NOT_FOUND' as const, key as Reason]
        const takes = (argument: string) => argumentsOf.get(called ?? '')?.has(argument) ?? false
        const reach = { offers: (tool: string) => offered.has(tool), takes }
        const hint = hintOf(hints, new HubError(code, 'It failed.', { reason }), reach) ?? ''
        faults.push(...unusable(hint, offered, called).map((name) => `${key} after ${called}: ${name} in "${hint}"`))
        if (/ {2}|\b(Call|with|Ask with|call) *[.:,]|^ | $/.test(hint)) faults.push(`${key} after ${called}: "${hint}"`)
      }
    expect(faults).toEqual([])
  })

  verifies('mail.hints.offered', 'descriptions and instructions name what is offered', () => {
    const faults = door.tools
      .filter(({ name }) => offered.has(name))
      .flatMap((tool) => {
        const texts = [
          tool.description,
          JSON.stringify(tool.input.toJSONSchema({ io: 'input', unrepresentable: 'any' })),
        ]
        const named = texts.flatMap(names).filter((name) => argumentsOf.has(name) && !everyArgument.has(name))
        return named.filter((name) => !offered.has(name)).map((name) => `${tool.name}: ${name}`)
      })
    const told = list === 'macros' ? offers.macros.instructions : offers.core.instructions
    expect([...faults, ...unusable(told ?? instructions('file_reservation_paths'), offered)]).toEqual([])
  })
})

test('a hint that names too much is noticed', () => {
  expect(unusable('Call whois with agent_name.', lists.all ?? new Set())).toEqual([])
  expect(unusable('Call whois with agent_name.', offers.core.tools)).toEqual(['whois'])
  expect(unusable('Send again with auto_contact_if_blocked.', offers.core.tools, 'reply_message')).toEqual([
    'auto_contact_if_blocked',
  ])
})

const parley = shareServer({ env: { MESSAGING_AUTO_HANDSHAKE_ON_BLOCK: 'false' } })

type Json = Record<string, unknown>

/** Calls that fail, by the tool and what is wrong with it; those with a resource have none. */
function failures(
  project_key: string,
  message_id: number,
): [tool: string | undefined, run: (door: MailDoor) => unknown][] {
  const call = (tool: string, args: Json): [string, (door: MailDoor) => unknown] => [
    tool,
    (door) => door.call(tool, { project_key, ...args }),
  ]
  const mail = { sender_name: 'GreenCastle', to: ['BlueLake'], subject: 'x', body_md: 'x' }
  const contact = { requester: 'GreenCastle', target: 'NoBody' }
  const read = (uri: string): [undefined, (door: MailDoor) => unknown] => [undefined, (door) => door.read(uri)]
  return [
    call('send_message', { ...mail, project_key: '/srv/nowhere' }),
    call('send_message', { ...mail, sender_name: 'NoBody' }),
    call('send_message', { ...mail, to: ['all'] }),
    call('send_message', { ...mail, to: ['NoBody@/srv/nowhere'] }),
    call('send_message', { ...mail, to: [`NoBody@${project_key}`] }),
    call('send_message', mail),
    call('send_message', { ...mail, to: ['RedStone'] }),
    call('send_message', { ...mail, wrong: 1 }),
    call('reply_message', { message_id, sender_name: 'GreenCastle', body_md: 'x', to: ['RedStone'] }),
    call('reply_message', { message_id, sender_name: 'GreenCastle', body_md: 'x', to: ['BlueLake'] }),
    call('reply_message', { message_id: 999_999, sender_name: 'GreenCastle', body_md: 'x' }),
    call('fetch_inbox', { agent_name: 'HumanOverseer' }),
    call('acknowledge_message', { agent_name: 'GreenCastle', message_id: 999_999 }),
    call('whois', { agent_name: 'NoBody' }),
    call('macro_prepare_thread', { thread_id: 'x', agent_name: 'NoBody', register_if_missing: false }),
    call('summarize_thread', { thread_id: 'none' }),
    call('request_contact', { from_agent: 'GreenCastle', to_agent: 'NoBody' }),
    call('request_contact', { from_agent: 'GreenCastle', to_agent: 'GreenCastle' }),
    call('macro_contact_handshake', contact),
    call('macro_contact_handshake', { ...contact, target: 'GreenCastle' }),
    call('macro_contact_handshake', { ...contact, to_project: '/srv/nowhere' }),
    call('respond_contact', { to_agent: 'GreenCastle', from_agent: 'NoBody', accept: true }),
    call('respond_contact', { to_agent: 'GreenCastle', from_agent: 'RedStone', accept: true }),
    call('respond_contact', { to_agent: 'GreenCastle', from_agent: 'RedStone', from_project: '/srv/no', accept: true }),
    read('resource://inbox/NoBody?project=/srv/nowhere'),
    read(`resource://inbox/NoBody?project=${project_key}`),
    read(`resource://thread/none?project=${project_key}`),
    read(`resource://message/999999?project=${project_key}`),
  ]
}

verifies(
  'mail.hints.own',
  'Whoever is asked for a hidden code is told of the code, and not to take a name',
  async () => {
    const served = await serveHere({ env: { CONNECTION_CODE_VISIBLE: 'false' } })
    const [alice, bob] = [await register(served, 'alice'), await register(served, 'bob')]
    await alice.request(bob)
    const answer = { project_key: 'commons', to_agent: bob.name, from_agent: alice.name, accept: true }
    const headers = { Authorization: `Bearer ${bob.key}` }
    const { structuredContent } = await callTool(`${served.url}/mcp`, 'respond_contact', answer, { headers })
    expect(structuredContent).toMatchObject({
      error: { code: 'FORBIDDEN', hint: expect.stringMatching(/approve with it: POST \/connections\/approve\.$/) },
    })
  },
)

for (const [list, offered] of Object.entries(lists))
  verifies(['mail.hints.offered', 'mail.hints.own'], `The errors of ?tools=${list} are worded for it`, async () => {
    const desk = await newDesk(parley())
    const { message_id } = await desk.send({ to: ['GreenCastle'] })
    const policy = { project_key: desk.project, agent_name: 'RedStone', policy: 'contacts_only' }
    await desk.door.call('set_contact_policy', policy)
    const short = plainMail(parley(), `/mcp?tools=${list}`)
    for (const [called, run] of failures(desk.project, message_id)) {
      if (called !== undefined && !offered.has(called)) continue
      const error = await Promise.resolve(run(short)).then(
        (value) => ({ hint: `answered ${JSON.stringify(value)}` }),
        (error: { hint?: string; data?: { hint: string } }) => ({ hint: error.hint ?? error.data?.hint ?? '' }),
      )
      expect(error.hint, called ?? 'a resource').toMatch(/^[A-Za-z].*\.$/)
      expect(unusable(error.hint, offered, called), error.hint).toEqual([])
    }
    const { blocked } = await short.call<{ blocked: { hint: string }[] }>('send_message', {
      project_key: desk.project,
      sender_name: 'GreenCastle',
      to: ['GreenCastle', 'BlueLake', 'RedStone'],
      subject: 'x',
      body_md: 'x',
    })
    expect(blocked).toHaveLength(2)
    for (const { hint } of blocked) expect(unusable(hint, offered, 'send_message'), hint).toEqual([])
  })
