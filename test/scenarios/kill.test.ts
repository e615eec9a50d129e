/** `kill -9` under load, again and again: what was acknowledged is there, once, in its sender's order. */
import { expect } from 'vitest'
import { type Mail, mailbox, serveHere, startParley, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

verifies(
  ['mailbox.store.kept', 'mailbox.lease.safe'],
  'Five kills in a row lose no acknowledged send, double none, and keep each sender’s order',
  async () => {
    const storage = await temporaryFolder()
    const acknowledged = new Map<string, number[]>()
    const counts = new Map<string, number>()
    for (let round = 0; round < 5; round++) {
      const parley = await startParley({ storage, env: { MAILBOX_MAX_DEPTH: '1000000' } })
      let stored = 0
      const enough = Promise.withResolvers<void>()
      const writers = Array.from({ length: 8 }, async (_, n) => {
        const name = `sender-${n}`
        const me = mailbox(parley, name)
        const list = acknowledged.get(name) ?? []
        acknowledged.set(name, list)
        for (;;) {
          const next = (counts.get(name) ?? 0) + 1
          counts.set(name, next)
          // The connection breaks in the middle of the last send: whether that one is stored, nobody can say.
          const sent = await me.send('target', `${name} ${next}`, String(next)).catch(() => undefined)
          if (sent === undefined) return
          list.push(next)
          if (++stored >= 200) enough.resolve()
        }
      })
      // Mail that is out on a lease when the process dies must come back, too.
      const reader = mailbox(parley, 'target')
        .check({ lease_seconds: 0.001, wait_seconds: 1 })
        .catch(() => null)
      await enough.promise
      await parley.end('SIGKILL')
      await Promise.all([...writers, reader])
    }

    const parley = await serveHere({ storage })
    const target = mailbox(parley, 'target')
    const received = new Map<string, number[]>()
    for (let mail: Mail | null = await target.check(); mail !== null; mail = await target.check()) {
      const [name = '', number] = mail.content.split(' ')
      received.set(name, [...(received.get(name) ?? []), Number(number)])
    }
    for (const [name, sent] of acknowledged) {
      const got = received.get(name) ?? []
      expect(got, `${name}: once and in order`).toEqual([...new Set(got)].sort((a, b) => a - b))
      expect(
        sent.filter((number) => !got.includes(number)),
        `${name}: acknowledged and lost`,
      ).toEqual([])
    }
    expect([...acknowledged.values()].flat().length).toBeGreaterThanOrEqual(1000)
  },
  120_000,
)
