/** The server of these settings, asked whether it is ready. */

import { parsedJson } from '../base/json.ts'
import type { Health } from '../doors/cli/serving/health.ts'
import type { Config } from '../settings/all.ts'
import { ask } from './asking.ts'
import { listRunning, serverUrl } from './running.ts'

/** The answer of a server that is none of ours, or of none at all. */
export const noAnswer = 'no answer'

/** Longer than a store may take to answer the server (doors/http/health.ts). */
const patienceMs = 2500

export async function healthOf(config: Config): Promise<Health> {
  // A server that took any free port has left a note.
  const url = serverUrl(config) ?? listRunning(config.STORAGE_ROOT).at(-1)?.url
  if (url === undefined) return { url: config.STORAGE_ROOT, ready: false, status: 'no server runs on this store' }
  try {
    const { status, text } = await ask(`${url}/health/readiness`, { headers: {}, patienceMs, anyCertificate: true })
    const { status: said } = (parsedJson(text) ?? {}) as { status?: unknown }
    return { url, ready: status === 200, status: typeof said === 'string' ? said : noAnswer }
  } catch {
    return { url, ready: false, status: noAnswer }
  }
}
