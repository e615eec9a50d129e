/** The record of calls at the mail door: the recent ones, the log, the snapshots, the locks. */

import { expect } from 'vitest'
import { local } from '../../../src/core/access/callers.ts'
import { type Chore, keepChores } from '../../../src/core/hub/chores.ts'
import type { Hub } from '../../../src/core/hub/hub.ts'
import type { About } from '../../../src/doors/mail/about.ts'
import { mailDoor } from '../../../src/doors/mail/door.ts'
import { Usage } from '../../../src/doors/mcp/usage.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine } from '../../support/engines.ts'
import { openTestHub } from '../../support/hub.ts'
import { callTool, connectClient, type Served, serveLogged } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

/** Reads a resource of a door that nobody serves. */
function reader(hub: Hub, usage = new Usage({ noting: true })) {
  const { resources } = mailDoor(hub, { usage } as About)
  // biome-ignore lint/suspicious/noExplicitAny: each resource has a shape of its own
  return async (begin: string, params: Record<string, string> = {}): Promise<any> =>
    resources
      .find(({ uri }) => uri.startsWith(begin))
      ?.read(params, { scope: { tools: 'all' }, caller: local } as never)
}

verifies('mail.recent.window', 'Calls are recent for as long as the window is, the newest first', async () => {
  const clock = new TestClock()
  const usage = new Usage({ noting: true })
  const tool = usage.count('mail', 'whois', 'identity')
  const start = clock.now()
  for (const second of [0, 30, 59])
    usage.note({ tool, at: start + second * 1000, ms: 7, outcome: 'ok', project: 'p', agent: `a${second}` })
  clock.advance(60_000)
  const read = reader({ clock } as unknown as Hub, usage)
  const recent = (window_seconds: string) => read('resource://tooling/recent', { window_seconds })
  const agents = async (window: string) => (await recent(window)).entries.map(({ agent }: { agent: string }) => agent)
  expect(await recent('5')).toEqual({
    generated_at: '2026-01-01T00:01:00.000Z',
    window_seconds: 5,
    count: 1,
    entries: [
      {
        timestamp: '2026-01-01T00:00:59.000Z',
        tool: 'whois',
        cluster: 'identity',
        project: 'p',
        agent: 'a59',
        outcome: 'ok',
        duration_ms: 7,
      },
    ],
    has_more: false,
  })
  expect(await agents('30')).toEqual(['a59', 'a30'])
  expect(await agents('60')).toEqual(['a59', 'a30', 'a0'])
  for (const window of ['0', '-1', '1.5', 'soon', '604801', '1e400'])
    await expect(recent(window)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
})

verifies('mail.recent.bounded', 'However much is called, an answer stays short enough to be shown', async () => {
  const clock = new TestClock()
  const usage = new Usage({ noting: true })
  const tool = usage.count('mail', 'whois', 'identity')
  for (let call = 0; call < 3000; call++)
    usage.note({ tool, at: clock.now(), ms: 7, outcome: 'ok', project: 'backend-abc123', agent: 'GreenCastle' })
  const answer = await reader({ clock } as unknown as Hub, usage)('resource://tooling/recent', { window_seconds: '60' })
  expect(answer.count).toBe(1000)
  expect(answer.entries).toHaveLength(200)
  expect(JSON.stringify(answer).length).toBeLessThan(45_000)
})

eachEngine('Locks', (open) => {
  verifies('mail.locks.held', 'a background job is shown while it runs, with its holder', async () => {
    const clock = new TestClock()
    const hub = await openTestHub(await (await open()).connect(), { clock })
    const read = reader(hub)
    const [running, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const chore: Chore = {
      name: 'sweep',
      everyMs: 60_000,
      run() {
        running.resolve()
        return done.promise
      },
    }
    expect(await read('resource://tooling/locks')).toEqual({ locks: [], summary: { total: 0 } })
    const stop = keepChores(hub, [chore], 'here')
    clock.advance(60_000)
    await running.promise
    expect(await read('resource://tooling/locks')).toEqual({
      locks: [{ name: 'sweep', owner: 'here', held_until: '2026-01-01T00:01:30.000Z' }],
      summary: { total: 1 },
    })
    done.resolve()
    await stop()
    expect(await read('resource://tooling/locks')).toEqual({ locks: [], summary: { total: 0 } })
    await hub.close()
  })
})

const body = 'marker-body'
const forged = '{"level":30,"msg":"forged"}'

/** A good call, one that fails, and one that wants to be more than a call. */
async function useTools({ url }: Served): Promise<void> {
  const call = (name: string, args: Record<string, unknown>) => callTool(`${url}/mcp`, name, args)
  await call('ensure_project', { human_key: '/srv/noted' })
  await call('send_message', {
    ...{ project_key: '/srv/noted', sender_name: 'GreenCastle', to: ['BlueLake'] },
    ...{ subject: 'marker-subject', body_md: body },
  })
  await call('fetch_inbox', { project_key: `\n${forged}\n`, agent_name: `${'x'.repeat(5000)}\r\n${forged}` })
  await call('fetch_inbox', { project_key: { marker: 'marker-object' }, agent_name: ['marker-list'] })
}

async function recent({ url }: Served) {
  const client = await connectClient(`${url}/mcp`, '2026-07-28')
  const [content] = (await client.readResource({ uri: 'resource://tooling/recent/60' })).contents
  return JSON.parse(content && 'text' in content ? content.text : '')
}

verifies('mail.log.calls', 'Each call is one line at debug, which holds no body and cannot be forged', async () => {
  const parley = await serveLogged({ env: { LOG_LEVEL: 'debug' } })
  await useTools(parley)
  expect((await recent(parley)).entries).toHaveLength(4)
  await parley.stop()
  const called = parley.lines().filter(({ msg }) => msg === 'a tool was called')
  expect(called).toMatchObject([
    { level: 20, door: 'mail', tool: 'ensure_project', cluster: 'identity', outcome: 'ok', project: '/srv/noted' },
    { tool: 'send_message', cluster: 'messaging', outcome: 'error', project: '/srv/noted', agent: 'GreenCastle' },
    { tool: 'fetch_inbox', outcome: 'error', agent: 'x'.repeat(256) },
    { tool: 'fetch_inbox', outcome: 'error' },
  ])
  expect(called[3]).not.toHaveProperty('project')
  expect(called[3]).not.toHaveProperty('agent')
  expect(parley.lines().filter(({ msg }) => msg === 'forged')).toEqual([])
  expect(parley.logged()).not.toContain('marker')
})

verifies('mail.log.off', 'Without TOOLS_LOG_ENABLED calls are counted, but neither logged nor kept', async () => {
  const parley = await serveLogged({ env: { LOG_LEVEL: 'debug', TOOLS_LOG_ENABLED: 'false' } })
  await useTools(parley)
  expect(await recent(parley)).toMatchObject({ count: 0, entries: [] })
  const client = await connectClient(`${parley.url}/mcp`, '2026-07-28')
  const [content] = (await client.readResource({ uri: 'resource://tooling/metrics' })).contents
  const { tools } = JSON.parse(content && 'text' in content ? content.text : '')
  expect(tools).toContainEqual({ name: 'fetch_inbox', cluster: 'messaging', calls: 2, errors: 2 })
  await parley.stop()
  expect(parley.logged()).toContain('/mcp')
  expect(parley.logged()).not.toContain('a tool was called')
})

verifies('mail.metrics.snapshot', 'A server that is told to emits snapshots, and stops all the same', async () => {
  const parley = await serveLogged({
    env: { TOOL_METRICS_EMIT_ENABLED: 'true', TOOL_METRICS_EMIT_INTERVAL_SECONDS: '1' },
  })
  await useTools(parley)
  const printed = /tool_metrics_snapshot.*send_message|send_message.*tool_metrics_snapshot/
  await expect.poll(parley.logged).toMatch(printed)
  const snapshot = parley.lines().findLast(({ event }) => event === 'tool_metrics_snapshot')
  expect(snapshot?.level).toBe(30)
  expect(snapshot?.tools).toEqual(
    expect.arrayContaining([
      { door: 'mail', name: 'send_message', cluster: 'messaging', calls: 1, errors: 1 },
      { door: 'mail', name: 'ensure_project', cluster: 'identity', calls: 1, errors: 0 },
    ]),
  )
  await parley.stop()
})
