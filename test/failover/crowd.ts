/** Clients in a ring, each of which sends, waits for mail, and repeats what was not answered well. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Mail, mailbox } from '../support/parley.ts'

export interface CrowdOptions {
  readonly clients: number
  /** The mailbox of a client. */
  at(client: number): ReturnType<typeof mailbox>
  /** The name of an error after which a call is made again; undefined for one that must not be. */
  fault(error: unknown): string | undefined
  readonly waitSeconds?: number
  /** A client rests so long between an acknowledgement and its next message. */
  readonly restMs?: number
}

export const isBusy = (error: unknown): boolean => (error as { code?: string } | undefined)?.code === 'DB_BUSY'

/** Each client sends to the next one and waits for the one before; it repeats what was not answered well under the same id. */
export function openCrowd({ clients, at, fault, waitSeconds = 2, restMs = 50 }: CrowdOptions) {
  const sent: string[][] = Array.from({ length: clients }, () => [])
  const taken: string[][] = Array.from({ length: clients }, () => [])
  const repeated: string[] = []
  let longestMs = 0
  let [sending, taking] = [true, true]

  async function insist<T>(call: () => Promise<T>): Promise<T> {
    for (;;)
      try {
        return await call()
      } catch (error) {
        const passing = fault(error)
        if (passing === undefined) throw error
        repeated.push(passing)
        await sleep(20)
      }
  }
  const senders = Array.from({ length: clients }, async (_, n) => {
    for (let count = 0; sending; count++) {
      const id = `${n}-${count}`
      const called = performance.now()
      await insist(() => at(n).send(`client-${(n + 1) % clients}`, id, id))
      sent[n]?.push(id)
      longestMs = Math.max(longestMs, performance.now() - called)
      await sleep(restMs)
    }
  })
  const takers = Array.from({ length: clients }, async (_, n) => {
    while (taking) {
      const mail = await insist<Mail | null>(() => at(n).check({ wait_seconds: waitSeconds }))
      if (mail !== null) taken[n]?.push(mail.content)
    }
  })
  for (const work of [...senders, ...takers]) work.catch(() => {})
  return {
    repeated,
    /** Until each client has had something more acknowledged. */
    async goOn() {
      const before = sent.map(({ length }) => length)
      await expect
        .poll(() => sent.filter(({ length }, n) => length <= (before[n] ?? 0)).length, { timeout: 30_000 })
        .toBe(0)
    },
    /** The longest time that a client waited for an acknowledgement, its repeated calls included, since this was last asked. */
    longest() {
      const longest = longestMs
      longestMs = 0
      return longest
    },
    async finish() {
      sending = false
      await Promise.all(senders)
      const missing = () => sent.flat().length - taken.flat().length
      await expect.poll(missing, { timeout: 30_000 }).toBeLessThanOrEqual(0)
      taking = false
      await Promise.all(takers)
      for (let n = 0; n < clients; n++) expect(taken[(n + 1) % clients]).toEqual(sent[n])
      return sent.flat().length
    },
  }
}
