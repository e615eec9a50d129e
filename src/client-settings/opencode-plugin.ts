/** The plugin of OpenCode: it waits for mail beside an idle session, begins a turn with the pointer, and tells of mail in the turns. */
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
  let ended = false

  function post(path, id, payload, signal) {
    const query = new URLSearchParams({ session: id, client: 'opencode', seconds: '25' })
    if (agent !== '') query.set('agent', agent)
    if (parley.project !== undefined) query.set('project', parley.project)
    const body = JSON.stringify({ session_id: id, cwd: directory, ...payload })
    return fetch(parley.server + '/hooks/' + path + '?' + query, { method: 'POST', headers: headers(agent), body, signal })
  }

  function ask() {
    // The end of a turn: what was held until then comes now.
    const payload = ended ? { hook_event_name: 'Stop' } : {}
    ended = false
    return post('wait', session, payload, AbortSignal.any([stop.signal, AbortSignal.timeout(35_000)]))
  }

  /** A session that runs takes it after its turn. */
  async function push(id, text) {
    for (let tries = 1; ; tries++)
      try {
        await client.session.promptAsync({ path: { id }, body: { parts: [{ type: 'text', text }] }, throwOnError: true })
        return 'told'
      } catch {
        if (tries === 5) return 'returned'
        await pause(500 * tries)
      }
  }

  /** The words of the hub at a moment of a turn. */
  async function said(event, id, payload) {
    if (id === undefined || children.has(id)) return ''
    try {
      const answer = await post('opencode/' + event, id, { hook_event_name: event, ...payload }, AbortSignal.timeout(1000))
      return (await answer.json()).hookSpecificOutput?.additionalContext ?? ''
    } catch {
      return ''
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
          const outcome = await push(id, text)
          await post(outcome, id, {}, AbortSignal.timeout(1000))
          // The session is gone, say: the mail is another route's.
          if (outcome === 'returned') await pause(10_000)
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
      // The question on its way is of another session, or does not say that the turn has ended.
      if (running) stop.abort()
      ended = true
      session = event.properties.sessionID
      if (running) return
      running = true
      wait().catch(() => {}).finally(() => {
        running = false
      })
    },
    'chat.message': async ({ sessionID }, { parts }) => {
      const texts = parts.filter(({ type }) => type === 'text')
      const last = texts.at(-1)
      if (last === undefined) return
      const words = await said('UserPromptSubmit', sessionID, { prompt: texts.map(({ text }) => text).join('\\n') })
      if (words !== '') last.text += '\\n\\n' + words
    },
    'tool.execute.after': async ({ tool, sessionID }, result) => {
      // A tool of OpenCode, or one of an MCP server.
      const isOwn = typeof result.output === 'string'
      const registers = /(macro_start_session|register_agent|create_agent_identity)$/.test(tool)
      const answered = registers ? { tool_response: isOwn ? result.output : result.content } : {}
      const words = await said('PostToolUse', sessionID, { tool_name: tool, ...answered })
      if (words === '') return
      if (isOwn) result.output += '\\n\\n' + words
      else result.content = [...(result.content ?? []), { type: 'text', text: words }]
    },
  }
}`
  .trim()
  .split('\n')
