/** The large stores that are measured. All are made before the first part, two at a time, by a process each: later nothing may run beside a measurement. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeTopicStore } from './bus.ts'
import { makeMailStore } from './mail.ts'
import { makeMailboxStore } from './mailbox.ts'
import { makePagesStore } from './pages.ts'
import { makeSearchStore } from './search.ts'
import { own } from './server.ts'
import { makeMailedStore } from './throughput.ts'

/** The stores that take longest come first. */
const makers = {
  pages: makePagesStore,
  search: makeSearchStore,
  mail: makeMailStore,
  mailbox: makeMailboxStore,
  mailed: (storage) => makeMailedStore(storage),
  topic: makeTopicStore,
} satisfies Record<string, (storage: string, messages: number) => Promise<void>>

export type StoreName = keyof typeof makers

export interface Making {
  readonly folder: () => string
  readonly messages: number
  readonly say: (text: string) => void
}

/** Returns the folder of each. */
export async function makeStores(
  names: readonly StoreName[],
  { folder, messages, say }: Making,
): Promise<ReadonlyMap<StoreName, string>> {
  const made = new Map<StoreName, string>()
  const left = (Object.keys(makers) as StoreName[]).filter((name) => names.includes(name))
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const storage = folder()
      const args = [fileURLToPath(import.meta.url), name, storage, String(messages)]
      const [code] = await once(own(spawn(process.execPath, args, { stdio: 'inherit' })), 'exit')
      if (code !== 0) throw new Error(`the store ${name} could not be made`)
      made.set(name, storage)
      say(`store: ${name}`)
    }
  }
  await Promise.all([work(), work()])
  return made
}

if (import.meta.main) {
  const [name = '', storage = '', messages = ''] = process.argv.slice(2)
  await makers[name as StoreName](storage, Number(messages))
  // Or the first commit that is measured waits until the disk has all of this.
  for (const file of readdirSync(storage, { withFileTypes: true }).filter((entry) => entry.isFile())) {
    const written = openSync(join(storage, file.name), 'r+')
    fsyncSync(written)
    closeSync(written)
  }
}
