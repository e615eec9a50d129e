/** Many agents of one project that work at once, each without a pause, and a record of all they were answered. */
import { Agent, request } from 'node:http'
import { onTestFinished } from 'vitest'
import type { Message, Receipt } from './mail.ts'

type Json = Record<string, unknown>

export interface Granted {
  id: number
  path_pattern: string
  expires_ts: string
}

/** A message whose send was answered. */
export interface SentMessage {
  id: number
  recipients: string[]
  /** In no other message. */
  word: string
}

/** Surely held from the answer that granted it until it expired, or its release was asked for. */
export interface Hold {
  agent: string
  pattern: string
  from: number
  until: number
}

export interface Journal {
  messages: SentMessage[]
  holds: Hold[]
  /** `agent/id` of all that was marked as read or acknowledged. */
  read: Set<string>
  /** Calls that were answered with an error, or not at all. */
  faults: string[]
  /** How often each tool was answered. */
  calls: Map<string, number>
  /** How often a lease was not granted because somebody else holds it. */
  conflicts: number
}

export interface Line {
  call<Value>(tool: string, args: Json): Promise<Value>
  read<Value>(uri: string): Promise<Value>
}

/** Plain requests over connections that are kept: each line has a few of its own. */
export function openLine({ port }: { port: number }, sockets: number): Line {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  onTestFinished(() => agent.destroy())
  const headers = { 'Content-Type': 'application/json' }
  const post = (body: string) =>
    new Promise<{ result?: Json; error?: unknown }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method: 'POST', path: '/mcp', headers, agent }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        response.once('end', () => resolve(JSON.parse(text)))
        response.once('error', reject)
      })
      sent.once('error', reject)
      sent.end(body)
    })
  const rpc = async (method: string, params: Json) => {
    const { result, error } = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    if (result === undefined) throw new Error(JSON.stringify(error))
    return result
  }
  return {
    async call<Value>(name: string, args: Json) {
      const { structuredContent, isError } = await rpc('tools/call', { name, arguments: args })
      if (isError) throw new Error(JSON.stringify(structuredContent))
      const value = structuredContent as { result?: unknown }
      return ('result' in value ? value.result : value) as Value
    },
    async read<Value>(uri: string) {
      const { contents } = (await rpc('resources/read', { uri })) as { contents: { text: string }[] }
      return JSON.parse(contents[0]?.text ?? 'null') as Value
    },
  }
}

/** Chance that comes out the same each time. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

export interface Crowd {
  project: string
  names: readonly string[]
  patterns: readonly string[]
  /** Agents are spread over them. */
  lines: readonly Line[]
  /** They go on at least so long, and until so many messages are sent: a busy machine takes longer. */
  ms: number
  messages: number
}

/** So many reservations are granted, and so many refused. */
const leases = 10

export async function letThemWork({ project, names, patterns, lines, ms, messages }: Crowd): Promise<Journal> {
  const record: Journal = {
    messages: [],
    holds: [],
    read: new Set(),
    faults: [],
    calls: new Map(),
    conflicts: 0,
  }
  const end = performance.now() + ms
  // A busy machine may have done little by then: they go on until there is enough to judge.
  const isEnough = () => record.messages.length > messages && record.holds.length > leases && record.conflicts > leases
  const goesOn = () => performance.now() < end || !isEnough()
  await Promise.all(names.map((_, n) => work(n)))
  return record

  async function work(n: number): Promise<void> {
    const name = names[n] ?? ''
    const line = lines[n % lines.length] as Line
    const roll = dice(n + 1)
    const there = { project_key: project, agent_name: name }
    const held = new Map<number, Hold>()
    let written = 0

    async function call<Value>(tool: string, args: Json): Promise<Value | undefined> {
      try {
        const value = await line.call<Value>(tool, args)
        record.calls.set(tool, (record.calls.get(tool) ?? 0) + 1)
        return value
      } catch (error) {
        record.faults.push(`${tool}: ${(error as Error).message}`)
        return undefined
      }
    }

    const others = () => [...new Set(Array.from({ length: 1 + roll(3) }, () => names[roll(names.length)] ?? name))]

    async function write(tool: string, args: Json): Promise<void> {
      const word = `word${n}x${written++}`
      const body_md = `a message with ${word} in it`
      const sent = await call<Receipt>(tool, { project_key: project, sender_name: name, body_md, ...args })
      if (sent === undefined) return
      if (sent.blocked.length > 0) record.faults.push(`blocked: ${JSON.stringify(sent.blocked)}`)
      record.messages.push({ id: sent.message_id, word, recipients: sent.deliveries.map(({ recipient }) => recipient) })
    }

    async function send(): Promise<void> {
      const [to, ...cc] = others()
      const thread = roll(2) === 0 ? { thread_id: `TKT-${roll(20)}` } : {}
      await write('send_message', { to: [to], cc, subject: `From ${name}`, ack_required: roll(4) === 0, ...thread })
    }

    async function readMail(then: 'reply' | 'mark_message_read' | 'acknowledge_message'): Promise<void> {
      const messages = await call<Message[]>('fetch_inbox', { ...there, limit: 20 })
      const unread = messages?.filter(({ read_ts }) => read_ts === null) ?? []
      const message = unread[roll(unread.length)]
      if (message === undefined) return
      if (then === 'reply') return write('reply_message', { message_id: message.id })
      if (await call(then, { ...there, message_id: message.id })) record.read.add(`${name}/${message.id}`)
    }

    async function reserve(): Promise<void> {
      const pattern = patterns[roll(patterns.length)]
      const answer = await call<{ granted: Granted[]; conflicts: unknown[] }>('file_reservation_paths', {
        ...there,
        paths: [pattern],
        ttl_seconds: 1 + roll(2),
        on_conflict: 'refuse',
      })
      const from = Date.now()
      record.conflicts += answer?.conflicts.length ?? 0
      for (const { id, path_pattern, expires_ts } of answer?.granted ?? []) {
        // An agent that reserves its own path again keeps the same lease for longer.
        const hold = held.get(id) ?? { agent: name, pattern: path_pattern, from, until: 0 }
        hold.until = Date.parse(expires_ts)
        if (!held.has(id)) record.holds.push(hold)
        held.set(id, hold)
      }
    }

    async function release(): Promise<void> {
      const asked = Date.now()
      // Without a choice it is all of one's own.
      const [id] = roll(2) === 0 ? held.keys() : []
      const chosen = id === undefined ? {} : { file_reservation_ids: [id] }
      for (const [one, hold] of held)
        if (id === undefined || id === one) {
          hold.until = Math.min(hold.until, asked)
          held.delete(one)
        }
      await call('release_file_reservations', { ...there, ...chosen })
    }

    async function renew(): Promise<void> {
      const answer = await call<{ file_reservations: Granted[] }>('renew_file_reservations', {
        ...there,
        extend_seconds: 1,
      })
      for (const { id, expires_ts } of answer?.file_reservations ?? []) {
        const hold = held.get(id)
        if (hold !== undefined) hold.until = Date.parse(expires_ts)
      }
    }

    const search = () =>
      call('search_messages', { project_key: project, query: `word${roll(names.length)}x${roll(9)}` })

    const acts = [
      send,
      send,
      () => readMail('reply'),
      () => readMail('mark_message_read'),
      () => readMail('acknowledge_message'),
      reserve,
      reserve,
      reserve,
      release,
      renew,
      search,
    ]
    while (goesOn()) await acts[roll(acts.length)]?.()
  }
}
