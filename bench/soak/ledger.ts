/** Messages that are counted: sent by a process that may die at any time, taken at another. Each that was acknowledged must come, once. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

const [sender, reader] = ['ledger-sender', 'ledger-reader']

interface Answer {
  readonly result?: { readonly structuredContent?: { readonly result?: { readonly content?: string } | string | null } }
}

async function call(port: number, agent: string, name: string, args: object): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}/agents/${agent}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  })
  if (answer.status !== 200) throw new Error(`it answered ${answer.status}`)
  return (await answer.json()) as Answer
}

/** `dying` is the port of the process that is killed, which changes with each start. */
export function startLedger(port: number, dying: () => number) {
  const acknowledged = new Set<string>()
  const taken = new Map<string, number>()
  let running = true
  const sending = (async () => {
    while (running) {
      const text = randomUUID()
      // The same id until it is acknowledged: a message that was kept by a process that died is not kept again.
      for (let saved = false; !saved; )
        saved = await call(dying(), sender, 'send_to_agent', { name: reader, msg: text, msg_id: text }).then(
          ({ result }) => typeof result?.structuredContent?.result === 'string',
          () => sleep(100, false),
        )
      acknowledged.add(text)
      await sleep(5)
    }
  })()
  const taking = (async () => {
    for (let empty = false; running || !empty; ) {
      const { result } = await call(port, reader, 'check_mail', { wait_seconds: 1 })
      const mail = result?.structuredContent?.result
      empty = mail === null || mail === undefined
      if (typeof mail === 'object' && mail?.content !== undefined)
        taken.set(mail.content, (taken.get(mail.content) ?? 0) + 1)
    }
  })()
  return {
    async end() {
      running = false
      await sending
      await taking
      const lost = [...acknowledged].filter((text) => !taken.has(text)).length
      const twice = [...taken.values()].filter((times) => times > 1).length
      return { saved: acknowledged.size, lost, twice }
    },
  }
}
