/**
 * An agent's loop in its simplest form: wait for mail, think, answer. Try it in two terminals beside `npm start`:
 *   node bin/node24.js examples/loop.ts bob
 *   node bin/node24.js examples/loop.ts alice bob "How are you?"
 */
import { createHash } from 'node:crypto'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

interface Mail {
  id: string
  from: string
  content: string
  lease?: string
}

export interface Loop {
  url: string
  me: string
  /** The answer, or undefined for none. A language model would think here. */
  think: (mail: Mail) => Promise<string | undefined>
  /** Somebody to write to first. */
  first?: { to: string; text: string }
  signal: AbortSignal
}

export async function agentLoop({ url, me, think, first, signal }: Loop): Promise<void> {
  const client = new Client({ name: 'example-loop', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/agents/${me}/mcp`)))
  const call = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: args }, { signal })
    if (isError) throw new Error(JSON.stringify(structuredContent))
    return (structuredContent as { result?: unknown }).result
  }
  try {
    if (first) await call('send_to_agent', { name: first.to, msg: first.text })
    let after: string | undefined
    while (!signal.aborted) {
      // Lent for a minute: if this process dies while it thinks, the message comes again.
      const mail = (await call('check_mail', { wait_seconds: 25, lease_seconds: 60, after })) as Mail | null
      if (mail === null) continue
      const answer = await think(mail)
      // The same message always gets the same answer id, so that the same answer sent twice is stored once.
      const msg_id = createHash('sha256').update(`${me} ${mail.id}`).digest('hex').slice(0, 32)
      if (answer !== undefined) await call('send_to_agent', { name: mail.from, msg: answer, msg_id, reply_to: mail.id })
      after = mail.id // confirms the lease with the next call
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await client.close()
  }
}

if (import.meta.main) {
  const [me = 'bob', to, text = 'Hello!'] = process.argv.slice(2)
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const think = async ({ from, content }: Mail) => {
    console.log(`${from}: ${content}`)
    return from === to ? undefined : `You said: ${content}`
  }
  await agentLoop({
    url: process.env.PARLEY_URL ?? 'http://127.0.0.1:8765',
    me,
    think,
    signal: stop.signal,
    ...(to && { first: { to, text } }),
  })
}
