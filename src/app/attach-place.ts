/** The place of the one attached waiter of a client: a file that names its process. A newer waiter takes it, and the older ends. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isRunning, thisProcess } from '../base/processes.ts'
import { credentialsFile } from './credentials.ts'
import { hasOwnEnv } from './waker-calling.ts'

interface Place {
  isOurs(): boolean
  leave(): void
}

/** The server knows one waiter a session too; but it may be away, and a client that begins anew (`/clear`) has another session. */
export function placeFor(
  env: Readonly<Record<string, string | undefined>>,
  { client, pid, session }: { client: string; pid: number | undefined; session: string },
): Place {
  const folder = join(dirname(credentialsFile(env)), 'attached')
  // One process of Codex has many threads.
  const name = hasOwnEnv(client) ? `${client}-${pid ?? session}` : `${client}-${session}`
  const file = join(folder, name.replace(/[^\w.-]+/g, '_').slice(0, 200))
  const own = thisProcess()
  const holder = (): string | undefined => {
    try {
      return readFileSync(file, 'utf8')
    } catch {
      return undefined
    }
  }
  try {
    const older = holder()
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(file, own, { mode: 0o600 })
    if (older !== undefined && older !== own && isRunning(older)) process.kill(Number(older.split('/')[1]))
  } catch {
    // A folder that cannot be written: the server's rule has to be enough.
    return { isOurs: () => true, leave: () => {} }
  }
  return {
    isOurs: () => holder() === own,
    leave: () => {
      if (holder() === own) rmSync(file, { force: true })
    },
  }
}
