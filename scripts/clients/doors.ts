/** The doors that clients are sent to, over each wire: what they call there, what they read, and what must come back. */
import { join } from 'node:path'
import type { Parley } from './parley.ts'

export interface Door {
  readonly name: string
  /** An address, or a program that speaks over stdin and stdout. */
  readonly at: string | Program
  readonly tool: string
  readonly args: Readonly<Record<string, string>>
  /** A text that only the right answer has. */
  readonly answer: string
  readonly resource?: { readonly uri: string; readonly has: string }
  /** Calls whose answers have a field `from`, and how the last is shown by a client that makes Python types of schemas. */
  readonly from?: { readonly calls: readonly Call[]; readonly data: string }
}

type Call = readonly [tool: string, args: Readonly<Record<string, string>>]

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export function doorsOf({ url, root, env, key }: Parley): Door[] {
  const bus = { tool: 'ping', args: {}, answer: 'spec_version' }
  const hub = {
    tool: 'apm2.message.send',
    args: { to: 'dave', text: 'Hello from a client.' },
    answer: 'message_id',
    resource: { uri: 'apm2://agents', has: 'dave' },
    // Its schema has a reply, which has the field.
    from: { calls: [['apm2.message.send', { to: 'dave', text: 'Hello again.' }] as const], data: 'message_id=' },
  }
  const stdio = (args: readonly string[], more: Record<string, string> = {}): Program => ({
    command: process.execPath,
    args: [join(root, 'bin/parley.js'), ...args],
    env: { ...env, ...more },
  })
  return [
    {
      name: '/agents/{agent}/mcp',
      at: `${url}/agents/carol/mcp`,
      tool: 'send_to_agent',
      // The id comes back, and a message that is there already is not stored again.
      args: { name: 'dave', msg: 'Hello from a client.', msg_id: 'greeting-of-a-client' },
      answer: 'greeting-of-a-client',
      from: {
        calls: [
          ['send_to_agent', { name: 'carol', msg: 'Hello to myself.' }],
          ['check_mail', {}],
        ],
        data: "from='carol'",
      },
    },
    {
      name: '/mcp',
      at: `${url}/mcp`,
      tool: 'health_check',
      args: {},
      answer: 'database_url',
      resource: { uri: 'resource://tooling/directory', has: 'clusters' },
      // Its schema leaves the fields of a message to their names: each is a plain dict.
      from: { calls: [['fetch_inbox', { project_key: 'commons', agent_name: 'dave' }]], data: "'from': 'carol'" },
    },
    { name: '/bus/mcp', at: `${url}/bus/mcp?agent=carol`, ...bus },
    { name: '/hub/mcp', at: `${url}/hub/mcp?agent=carol`, ...hub },
    { name: 'parley bus', at: stdio(['bus']), ...bus },
    { name: 'parley hub', at: stdio(['hub', '--agent', 'carol']), ...hub },
    {
      name: 'parley mailbox',
      at: stdio(['mailbox'], { MAILBOX_SERVER_URL: url, MAILBOX_API_KEY: key }),
      tool: 'mailbox_check',
      args: {},
      answer: 'Your mailbox is empty.',
    },
  ]
}
