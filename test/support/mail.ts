/** The mail door as its clients call it: plain requests, or the official client in one of the two eras. */
import { callTool as callPlainly, connectClient, type EraName } from './parley.ts'

type Json = Record<string, unknown>

export interface MailDoor {
  /** The structured result of a tool; a wrapped one is unwrapped. Errors are thrown as `{code, message, hint}`. */
  call<Value = Json>(tool: string, args?: Json): Promise<Value>
  /** The same with all that stands beside a list. */
  callWhole<Value = Json>(tool: string, args?: Json): Promise<Value>
  /** The contents of a resource. Errors are thrown as the JSON-RPC error. */
  read<Value = Json>(uri: string): Promise<Value>
}

interface Result {
  structuredContent?: Json | undefined
  isError?: boolean | undefined
}

function whole<Value>({ structuredContent, isError }: Result): Value {
  if (isError) throw structuredContent?.error
  return structuredContent as Value
}

function unwrap<Value>(result: Result): Value {
  const structuredContent = whole<Json | undefined>(result)
  return (structuredContent && 'result' in structuredContent ? structuredContent.result : structuredContent) as Value
}

/** As the spec's curl lines do it: no session, no Accept. */
export function plainMail({ url }: { url: string }, path = '/mcp'): MailDoor {
  const endpoint = `${url}${path}`
  return {
    call: async (tool, args = {}) => unwrap(await callPlainly(endpoint, tool, args)),
    callWhole: async (tool, args = {}) => whole(await callPlainly(endpoint, tool, args)),
    async read(uri) {
      const response = await fetch(endpoint, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'resources/read', params: { uri } }),
      })
      const { result, error } = (await response.json()) as {
        result?: { contents: { text: string }[] }
        error?: unknown
      }
      if (error !== undefined) throw error
      return JSON.parse(result?.contents[0]?.text ?? 'null')
    },
  }
}

/** The official client, closed with the test. */
export async function connectMail({ url }: { url: string }, era: EraName, path = '/mcp'): Promise<MailDoor> {
  const client = await connectClient(`${url}${path}`, era)
  return {
    call: async (tool, args = {}) => unwrap((await client.callTool({ name: tool, arguments: args })) as Result),
    callWhole: async (tool, args = {}) => whole((await client.callTool({ name: tool, arguments: args })) as Result),
    async read(uri) {
      const { contents } = await client.readResource({ uri })
      return JSON.parse((contents[0] as { text: string }).text)
    },
  }
}

let projects = 0

/** A project that no other test knows. */
export const newProject = (): string => `/srv/repos/project-${process.pid}-${++projects}`

export interface Message {
  id: number
  thread_id: string | null
  subject: string
  from: string
  to: string[]
  cc: string[]
  /** Only in an outbox. */
  bcc?: string[]
  read_by?: string[]
  ack_by?: string[]
  kind: string
  importance: string
  ack_required: boolean
  created_ts: string
  read_ts: string | null
  ack_ts: string | null
  attachments: unknown[]
  body_md?: string
  body_omitted?: true
}

/** All that `fetch_inbox` answers. */
export interface InboxAnswer {
  result: Message[]
  has_more: boolean
  next_after?: number
  next_before?: number
  note?: string
}

export interface Receipt {
  message_id: number
  thread_id: string | null
  subject: string
  created_ts: string
  deliveries: { recipient: string; project: string; kind: string }[]
  count: number
  blocked: { recipient: string; code: string; hint: string }[]
}

/** The contents of the resources that list an agent's mail. */
export interface Page {
  project: string
  agent: string
  count: number
  messages: Message[]
  has_more: boolean
  next_before?: number
  next_after?: number
  note?: string
}

/** A new project with three agents in it, and the calls that tests make there. */
export async function newDesk(at: { url: string }, door: MailDoor = plainMail(at)) {
  const project = newProject()
  const project_key = project
  for (const name of ['GreenCastle', 'BlueLake', 'RedStone'])
    await door.call('register_agent', { project_key, program: 'test', model: 'none', name })
  return {
    door,
    project,
    send: (more: Json = {}) =>
      door.call<Receipt>('send_message', {
        project_key,
        sender_name: 'GreenCastle',
        to: ['BlueLake'],
        subject: 'Plan',
        body_md: 'hello',
        ...more,
      }),
    reply: (message_id: number | string, sender_name: string, more: Json = {}) =>
      door.call<Receipt & { reply_to: number }>('reply_message', {
        project_key,
        message_id,
        sender_name,
        body_md: 'yes',
        ...more,
      }),
    inbox: (agent_name: string, more: Json = {}) =>
      door.call<Message[]>('fetch_inbox', { project_key, agent_name, ...more }),
    inboxPage: (agent_name: string, more: Json = {}) =>
      door.callWhole<InboxAnswer>('fetch_inbox', { project_key, agent_name, ...more }),
    /** mark_message_read or acknowledge_message. */
    sign: (tool: string, agent_name: string, message_id: unknown) =>
      door.call(tool, { project_key, agent_name, message_id }),
    resource: <Value = Page>(path: string, query = '') =>
      door.read<Value>(`resource://${path}?project=${encodeURIComponent(project)}${query}`),
  }
}

export type Desk = Awaited<ReturnType<typeof newDesk>>

/** Registering and writing at a door, for stories with projects and people of their own. */
export const correspond = (door: () => MailDoor) => ({
  async people(project_key: string, ...names: string[]): Promise<void> {
    for (const name of names) await door().call('register_agent', { project_key, program: 'test', model: 'none', name })
  },
  send: (project_key: string, sender_name: string, to: string[], more: Json = {}) =>
    door().call<Receipt>('send_message', { project_key, sender_name, to, subject: 'Plan', body_md: 'hello', ...more }),
})
