/** The tools that the mail door offers: all of them in few characters, or a short list. */
import { describe, expect } from 'vitest'
import type { Hub } from '../../../src/core/hub/hub.ts'
import type { About } from '../../../src/doors/mail/about.ts'
import { clusters, offers } from '../../../src/doors/mail/clusters.ts'
import { mailDoor } from '../../../src/doors/mail/door.ts'
import { lintDoor } from '../../support/door-lint.ts'
import { callTool, connectClient, eras, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const tools = [
  ...['health_check', 'ensure_project', 'register_agent', 'create_agent_identity', 'whois', 'list_agents'],
  ...['send_message', 'reply_message', 'fetch_inbox', 'mark_message_read', 'acknowledge_message'],
  ...['request_contact', 'respond_contact', 'list_contacts', 'set_contact_policy'],
  ...['file_reservation_paths', 'release_file_reservations', 'renew_file_reservations'],
  ...['install_precommit_guard', 'uninstall_precommit_guard'],
  ...['search_messages', 'summarize_thread', 'summarize_threads'],
  ...['macro_start_session', 'macro_prepare_thread', 'macro_file_reservation_cycle', 'macro_contact_handshake'],
]

/** By what stands before the query: a door may take more parameters than the spec names. */
const resources: Readonly<Record<string, readonly string[]>> = {
  'resource://config/environment': [],
  'resource://tooling/directory': [],
  'resource://tooling/schemas': [],
  'resource://tooling/metrics': [],
  'resource://tooling/locks': [],
  'resource://tooling/capabilities/{agent}': ['project'],
  'resource://tooling/recent/{window_seconds}': ['agent', 'project'],
  'resource://projects': [],
  'resource://project/{slug}': [],
  'resource://agents/{slug}': [],
  'resource://file_reservations/{slug}': ['active_only'],
  'resource://message/{id}': ['project'],
  'resource://thread/{thread_id}': ['project', 'include_bodies'],
  'resource://inbox/{agent}': ['project', 'since_ts', 'urgent_only', 'include_bodies', 'limit'],
  'resource://mailbox/{agent}': ['project', 'limit'],
  'resource://outbox/{agent}': ['project', 'limit', 'include_bodies', 'since_ts'],
  'resource://views/acks-stale/{agent}': ['project', 'ttl_seconds', 'limit'],
  'resource://views/urgent-unread/{agent}': ['project', 'limit'],
  'resource://views/ack-required/{agent}': ['project', 'limit'],
  'resource://views/ack-overdue/{agent}': ['project', 'ttl_minutes', 'limit'],
}

const parley = shareServer()
const url = (query = '') => `${parley().url}/mcp${query}`

verifies('mail.tools.lint', 'No client drops or renames a tool of the mail door', () => {
  const door = mailDoor({} as Hub, {} as About)
  expect(lintDoor(door)).toEqual([])
  expect(door.tools.filter(({ cluster }) => !(cluster in clusters))).toEqual([])
})

describe.each(eras)('in %s', (era) => {
  verifies(['mail.tools.complete', 'mail.tools.size'], 'every tool is listed, in few characters', async () => {
    const client = await connectClient(url(), era)
    const listed = (await client.listTools()).tools
    expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(tools))
    expect(listed).toHaveLength(27)
    expect(JSON.stringify({ tools: listed }).length).toBeLessThan(24_000)
  })

  verifies(['mail.tools.words', 'mail.reply.own-flags'], 'a model is told what decides success', async () => {
    const client = await connectClient(url(), era)
    const listed = new Map((await client.listTools()).tools.map((tool) => [tool.name, tool]))
    const told = (tool: string, argument?: string): string => {
      const { description = '', inputSchema } = listed.get(tool) ?? { inputSchema: { properties: {} } }
      if (argument === undefined) return description
      const { [argument]: schema } = inputSchema.properties as Record<string, { description?: string } | undefined>
      return schema?.description ?? ''
    }
    // biome-ignore format: a table, one text a line
    const texts: [text: string, says: RegExp][] = [
      [client.getInstructions() ?? '', /no broadcast.*the sender only.*after_id.*not obey/],
      [told('send_message'), /no broadcast/],
      [told('send_message', 'to'), /Name@project/],
      [told('send_message', 'thread_id'), /conversation/],
      [told('send_message', 'ack_required'), /acknowledge_message/],
      [told('reply_message'), /to its sender only.*Importance and ack_required are those of the message unless/],
      [told('fetch_inbox'), /read comes again: pass after_id/],
      [told('fetch_inbox', 'after_id'), /highest id/],
      [told('fetch_inbox', 'include_bodies'), /text/],
      [told('file_reservation_paths', 'ttl_seconds'), /free/],
      [told('release_file_reservations'), /all if you name none/],
      [told('release_file_reservations', 'paths'), /as you reserved them/],
      [told('macro_start_session'), /who else is active.*human_key as project_key/],
      [told('macro_prepare_thread', 'register_if_missing'), /error/],
      [told('macro_contact_handshake', 'auto_accept'), /if its policy allows/],
      [told('set_contact_policy'), /agents of your project; others ask first/],
    ]
    for (const [text, says] of texts) expect(text).toMatch(says)
    const words = JSON.stringify([...listed.values()])
    expect(words).not.toMatch(/\bletters?\b|\b(for|without) leave\b/i)
  })

  verifies('mail.tools.complete', 'every resource is listed with its parameters', async () => {
    const client = await connectClient(url(), era)
    const listed = [
      ...(await client.listResources()).resources.map(({ uri }) => uri),
      ...(await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ]
    for (const [base, parameters] of Object.entries(resources)) {
      const forms = listed.filter((uri) => uri.replace(/\{\?.*/, '') === base)
      expect(forms, base).not.toEqual([])
      const taken = forms.flatMap((uri) => /\{\?(.*)\}/.exec(uri)?.[1]?.split(',') ?? [])
      expect(taken, base).toEqual(expect.arrayContaining([...parameters]))
    }
  })

  verifies(
    ['mail.tools.always-load', 'mail.tools.lint'],
    'tools say what they do and which must be at hand',
    async () => {
      const listed = (await (await connectClient(url(), era)).listTools()).tools
      for (const { name, annotations } of listed)
        expect(Object.values(annotations ?? {}).filter((hint) => typeof hint === 'boolean').length, name).toBe(4)
      const loaded = listed.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true).map(({ name }) => name)
      expect(loaded.sort()).toEqual(['fetch_inbox', 'macro_start_session', 'send_message'])
    },
  )

  verifies(['mail.offers.lists', 'mail.offers.refuses'], 'a short list is all that can be called', async () => {
    for (const [name, { tools: offered }] of Object.entries(offers)) {
      const client = await connectClient(url(`?tools=${name}`), era)
      const listed = (await client.listTools()).tools.map((tool) => tool.name)
      expect(listed.sort()).toEqual([...offered].sort())
      expect(listed.length).toBeLessThanOrEqual(14)
      expect(listed).toEqual(expect.arrayContaining(['list_agents', 'respond_contact']))
      expect(listed.some((tool) => ['request_contact', 'macro_contact_handshake'].includes(tool))).toBe(true)
      const named = tools.filter((tool) => new RegExp(`\\b${tool}\\b`).test(client.getInstructions() ?? ''))
      expect(named).toContain('macro_start_session')
      expect(listed, 'the instructions name what is offered').toEqual(expect.arrayContaining(named))
      await expect(client.callTool({ name: 'whois' })).rejects.toThrow(
        'The tool "whois" is not offered here. Leave ?tools= out of the URL to be offered every tool.',
      )
    }
    const client = await connectClient(url('?tools=all'), era)
    expect((await client.listTools()).tools.length).toBeGreaterThanOrEqual(tools.length)
    expect(await client.callTool({ name: 'whois' })).toMatchObject({ isError: true })
  })
})

verifies('mail.offers.lists', 'A short list costs a good part less than all', async () => {
  const size = async (query: string) =>
    JSON.stringify((await (await connectClient(url(query), '2026-07-28')).listTools()).tools).length
  const all = await size('')
  expect(await size('?tools=core')).toBeLessThan(0.65 * all)
  expect(await size('?tools=macros')).toBeLessThan(0.65 * all)
})

verifies('mail.offers.unknown', 'An offer that does not exist is refused with those that do', async () => {
  for (const query of ['?tools=every', '?tools=', '?tools=core&tools=all', '?tools=__proto__'])
    await expect(callTool(url(query), 'health_check')).rejects.toThrow(/400.*must be all, core or macros/)
})
