/** The URL by which others reach the server of this store: HTTP_PUBLIC_URL, else the address that it listens on. */
import type { Reach } from '../doors/cli/operating/invitations.ts'
import type { Config } from '../settings/all.ts'
import { listRunning, serverUrl } from './running.ts'

export function reachOf(config: Config): Reach {
  const { HTTP_PUBLIC_URL, STORAGE_ROOT, HTTP_PORT } = config
  if (HTTP_PUBLIC_URL !== undefined) return { url: HTTP_PUBLIC_URL, isPublic: true }
  const [running] = listRunning(STORAGE_ROOT)
  return { url: running?.url ?? serverUrl(config) ?? `http://127.0.0.1:${HTTP_PORT}`, isPublic: false }
}
