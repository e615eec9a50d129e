/** `parley doctor --endpoints`: every door of the running server, asked as its clients ask it. */

import type { Config } from '../settings/all.ts'
import { ask } from './asking.ts'
import type { Surroundings } from './command-parts.ts'
import { type Check, fault, ok } from './findings.ts'
import { rpc } from './server-calls.ts'
import { serverAt } from './server-place.ts'

const patienceMs = 10_000

/** Paths that answer 200 without credentials, and for what. */
const open = [
  ['/health/liveness', 'the process lives'],
  ['/health/readiness', 'it takes work'],
  ['/openapi.json', 'the routes of the post door'],
] as const

/** Of the mailbox door the path is an agent's; one that nobody registers, and that a list of tools does not make. */
const doors = [{ door: 'mail' }, { door: 'mailbox', agent: 'parley-doctor' }, { door: 'hub' }, { door: 'bus' }] as const

export async function* endpoints(config: Config, env: Surroundings['env']): Check {
  const server = serverAt(config)
  for (const [path, says] of open) {
    const url = `${server}${path}`
    const status = await ask(url, { headers: {}, patienceMs }).then(
      (answer) => String(answer.status),
      (error: Error) => error.message,
    )
    if (status === '200') yield ok('endpoints', `${url}: ${says}`)
    else yield fault('endpoints', `${url} answers with ${status}.`, 'Look into the log of the server.')
  }
  for (const wish of doors) {
    try {
      const { tools } = (await rpc({ config, env }, wish, 'tools/list', {})) as { tools?: readonly unknown[] }
      yield ok('endpoints', `the ${wish.door} door: ${tools?.length ?? 0} tools`)
    } catch (error) {
      const { message, hint } = error as Error & { hint?: string }
      yield fault('endpoints', `the ${wish.door} door: ${message}`, hint ?? 'Look into the log of the server.')
    }
  }
}
