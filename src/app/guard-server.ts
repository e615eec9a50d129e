/** The leases of agents, asked of the running server; else of PostgreSQL, if the environment names it. */

import { limits } from '../base/limits.ts'
import { parseDatabaseUrl } from '../db/url.ts'
import type { Held } from '../guard/check-staged.ts'
import type { Carried } from '../guard/hook.ts'
import { loadConfig } from '../settings/read.ts'
import { databaseWays } from './database-place.ts'
import { heldInDatabase, type Looked } from './guard-file.ts'

/** Somebody waits for the commit. */
const patienceMs = 2000

type Environment = Readonly<Record<string, string | undefined>>

/** Settings are those of the user who commits; the `.env` of the repository is for another program. */
export async function heldByServer({ server, project }: Carried, env: Environment): Promise<Looked> {
  const committer = env.AGENT_NAME ?? ''
  const config = loadConfig(env)
  const { HTTP_BEARER_TOKEN: token, DATABASE_URL: url } = config
  try {
    if (server === undefined) throw new Error('The guard does not know the address of the server.')
    const held = await askServer(server, { project, token })
    return { held, unknown: committer !== '' && (await isUnknown(server, { project, token, committer })) }
  } catch (error) {
    if (url === undefined || parseDatabaseUrl(url).dialect === 'sqlite') throw error
    return askDatabase(url, { project, committer, ways: databaseWays(config) })
  }
}

interface Reservation {
  readonly id: number
  readonly agent: string
  readonly path_pattern: string
  readonly exclusive: boolean
  readonly reason: string
  readonly expires_ts: string
}

async function askServer(
  server: string,
  { project, token }: { project: string; token: string | undefined },
): Promise<Held[]> {
  const held: Held[] = []
  let page: Reservation[]
  let before = ''
  do {
    const uri = `resource://file_reservations/${encodeURIComponent(project)}?active_only=true&limit=${limits.listed}${before}`
    page = await readResource(server, uri, token)
    for (const { id, agent, path_pattern: pattern, exclusive, reason, expires_ts } of page)
      if (exclusive) held.push({ id, agent, pattern, reason, expiresAt: Date.parse(expires_ts) })
    before = `&before=${page.at(-1)?.id}`
  } while (page.length === limits.listed)
  return held.reverse()
}

/** Anything but "there is no such agent" is no reason to warn. */
async function isUnknown(
  server: string,
  { project, token, committer }: { project: string; token: string | undefined; committer: string },
): Promise<boolean> {
  const params = { name: 'whois', arguments: { project_key: project, agent_name: committer } }
  const response = await post(server, { method: 'tools/call', params }, token)
  const { result } = (await response.json().catch(() => ({}))) as {
    result?: { structuredContent?: { error?: { code?: string } } }
  }
  return result?.structuredContent?.error?.code === 'AGENT_NOT_FOUND'
}

const post = (server: string, call: { method: string; params: object }, token: string | undefined): Promise<Response> =>
  fetch(server, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...call }),
    signal: AbortSignal.timeout(patienceMs),
  })

async function readResource(server: string, uri: string, token: string | undefined): Promise<Reservation[]> {
  const response = await post(server, { method: 'resources/read', params: { uri } }, token).catch((error: Error) => {
    const { cause } = error as { cause?: Error }
    throw new Error(`The server at ${server} does not answer: ${cause?.message || error.message}`)
  })
  if (!response.ok) throw new Error(`The server at ${server} answers with ${response.status}.`)
  const { result, error } = (await response.json()) as {
    result?: { contents: { text: string }[] }
    error?: { message: string }
  }
  if (result === undefined) throw new Error(`The server at ${server} says: ${error?.message}`)
  const found = JSON.parse(result.contents[0]?.text ?? '[]') as Reservation[] | { result: Reservation[] }
  return Array.isArray(found) ? found : found.result
}

/** The driver is loaded only here. */
async function askDatabase(
  url: string,
  { project, committer, ways }: { project: string; committer: string; ways: ReturnType<typeof databaseWays> },
): Promise<Looked> {
  const { openDb } = await import('../db/open.ts')
  const db = await openDb(url, ways)
  try {
    return await heldInDatabase(db, project, committer)
  } finally {
    await db.close()
  }
}
