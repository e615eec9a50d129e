/** Many consumers of one mailbox under load: each message once, none lost. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { mailbox, startParley } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const seconds = 3
const perSecond = 200

verifies(
  ['mailbox.done.load', 'mailbox.pop.once'],
  `At ${perSecond} requests a second, 16 consumers of one mailbox get each message once`,
  async () => {
    const parley = await startParley()
    const total = seconds * perSecond
    const seen: string[] = []
    const consume = async (leases: boolean) => {
      const me = mailbox(parley, 'busy')
      for (;;) {
        const mail = await me.check({ wait_seconds: 5, ...(leases && { lease_seconds: 30 }) })
        if (mail === null || mail.content === 'end') return
        seen.push(mail.content)
        if (mail.lease !== undefined) await me.ack(mail.id, mail.lease)
      }
    }
    const consumers = Array.from({ length: 16 }, (_, n) => consume(n % 2 === 0))
    const senders = Array.from({ length: 8 }, (_, n) => mailbox(parley, `sender-${n}`))
    const sends: Promise<string>[] = []
    const began = performance.now()
    for (let n = 0; n < total; n++) {
      const due = began + (n * 1000) / perSecond
      // A loop that only looked at the time would take a whole core from the server.
      await pause(Math.max(0, due - performance.now()))
      const sender = senders[n % senders.length]
      if (sender) sends.push(sender.send('busy', String(n)))
    }
    await Promise.all(sends)
    for (let n = 0; n < 16; n++) await senders[0]?.send('busy', 'end')
    await Promise.all(consumers)
    expect(seen.length).toBe(total)
    expect(new Set(seen).size).toBe(total)
  },
  60_000,
)
