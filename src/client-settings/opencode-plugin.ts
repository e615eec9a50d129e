/** The plugin of OpenCode: it waits for mail beside an idle session, and begins a turn with the pointer. */
import type { Hooking } from './hook-lines.ts'

/** Runs in OpenCode itself, and imports nothing but Node: a server that is away must cost it nothing. */
export function pluginBlock({ server, agent, project, credentials }: Hooking): string[] {
  const settings = {
    server,
    ...(agent !== undefined && { agent }),
    ...(project !== undefined && { project }),
    credentials,
  }
  return [`const parley = ${JSON.stringify(settings)}`, ...program]
}

const program = `
import { readFileSync } from 'node:fs'
import { env, pid } from 'node:process'

const waiting = Symbol.for('parley.waiting')
/** Keeps no process alive. */
const pause = (ms) => new Promise((resolve) => AbortSignal.timeout(Math.round(ms)).addEventListener('abort', resolve))
/** Not all processes of a machine come back at once. */
const share = 0.8 + (pid % 100) / 500

/** Read for every question, because keys change; no key stands in this file. */
function headers(agent) {
  const json = { 'content-type': 'application/json' }
  try {
    const held = JSON.parse(readFileSync(parley.credentials, 'utf8')).servers?.[parley.server] ?? {}
    const [, own] = Object.entries(held).find(([name]) => name.toLowerCase() === agent.toLowerCase()) ?? []
    return own === undefined ? json : { ...json, authorization: 'Bearer ' + own.key }
  } catch {
    return json
  }
}

export const Parley = async ({ client, directory }) => {
  const agent = parley.agent || env.AGENT_NAME || ''
  // OpenCode may load this file twice in one process.
  if (globalThis[waiting]) return {}
  globalThis[waiting] = true
  const children = new Set()
  let session
  let stop = new AbortController()
  let running = false

  function ask() {
    const query = new URLSearchParams({ session, client: 'opencode', seconds: '25' })
    if (agent !== '') query.set('agent', agent)
    if (parley.project !== undefined) query.set('project', parley.project)
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(35_000)])
    const body = JSON.stringify({ session_id: session, cwd: directory })
    return fetch(parley.server + '/hooks/wait?' + query, { method: 'POST', headers: headers(agent), body, signal })
  }

  /** That it was taken here is all the proof that the hub has. A session that runs takes it after its turn. */
  async function push(id, text) {
    for (let tries = 1; ; tries++)
      try {
        await client.session.promptAsync({ path: { id }, body: { parts: [{ type: 'text', text }] }, throwOnError: true })
        return
      } catch {
        if (tries === 5) return
        await pause(500 * tries)
      }
  }

  async function wait() {
    for (let failures = 0; ; ) {
      const id = session
      try {
        const answer = await ask()
        // Another process waits for this session now.
        if (answer.status === 409) break
        if (answer.status === 200) {
          const { text } = await answer.json()
          await push(id, text)
        }
        failures = answer.ok ? 0 : failures + 1
      } catch {
        // The session has changed, or the server is away.
        if (!stop.signal.aborted) failures++
      }
      if (stop.signal.aborted) stop = new AbortController()
      else if (failures > 0) await pause(Math.min(200 * 2 ** failures, 10_000) * share)
    }
  }

  return {
    event: async ({ event }) => {
      // The sessions of helpers, which the model starts and ends.
      if (event.type === 'session.created' && event.properties.info?.parentID) children.add(event.properties.info.id)
      if (event.type !== 'session.idle' || children.has(event.properties.sessionID)) return
      if (session !== undefined && session !== event.properties.sessionID) stop.abort()
      session = event.properties.sessionID
      if (running) return
      running = true
      wait().catch(() => {}).finally(() => {
        running = false
      })
    },
  }
}`
  .trim()
  .split('\n')
