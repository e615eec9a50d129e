/** Another process on the same database: it does one job that its parent names, and tells how it went. */
import sql from 'sql-template-tag'
import { systemClock } from '../../src/base/clock.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDb } from '../../src/db/open.ts'
import { steps } from './db-steps.ts'

/** Of a table `entries (author, n)`. */
const jobs = {
  /** Writes `count` rows, eight at a time, when told to go. */
  async write(url: string, author: string, count: string): Promise<void> {
    const db = await openDb(url)
    await told('go')
    let next = 0
    const lane = async () => {
      while (next < Number(count)) {
        const n = next++
        await db.tx((tx) => tx.all(sql`INSERT INTO entries (author, n) VALUES (${author}, ${n})`))
      }
    }
    await Promise.all(Array.from({ length: 8 }, lane))
    await db.close()
  },

  /** Writes a row and never commits it. */
  async hold(url: string, author: string): Promise<void> {
    const db = await openDb(url)
    await db.tx(async (tx) => {
      await tx.all(sql`INSERT INTO entries (author, n) VALUES (${author}, 0)`)
      tell('holding')
      await told('never')
    })
  },

  /** Writes a row, announces a topic, and goes. */
  async announce(url: string, author: string, topic: string): Promise<void> {
    const db = await openDb(url)
    await db.tx((tx) => tx.all(sql`INSERT INTO entries (author, n) VALUES (${author}, 0)`))
    db.announce([topic])
    await db.close()
  },

  async migrate(url: string): Promise<void> {
    await told('go')
    const db = await openDb(url)
    await migrate(db, steps, systemClock)
    await db.close()
  },
}

export type Job = keyof typeof jobs

function tell(word: string): void {
  process.send?.(word)
}

async function told(word: string): Promise<void> {
  tell('ready')
  await new Promise<void>((resolve) => {
    process.on('message', (message) => {
      if (message === word) resolve()
    })
  })
}

const [job, ...args] = process.argv.slice(2)
const run: (...args: string[]) => Promise<void> = jobs[job as Job]
await run(...args)
process.disconnect()
