/** The URL by which others reach the server of this store: HTTP_PUBLIC_URL, else the address that it listens on. */
import type { Reach } from '../doors/cli/operating/invitations.ts'
import type { Config } from '../settings/all.ts'
import { listRunning } from './running.ts'

export function reachOf({ HTTP_PUBLIC_URL, HTTP_HOST, HTTP_PORT, HTTP_BASE_PATH, STORAGE_ROOT }: Config): Reach {
  if (HTTP_PUBLIC_URL !== undefined) return { url: HTTP_PUBLIC_URL, isPublic: true }
  const [running] = listRunning(STORAGE_ROOT)
  const host = HTTP_HOST.includes(':') ? `[${HTTP_HOST}]` : HTTP_HOST
  return { url: running?.url ?? `http://${host}:${HTTP_PORT}${HTTP_BASE_PATH}`, isPublic: false }
}
