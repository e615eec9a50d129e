/** Several workers on one port: one node to its clients, which outlives the death of a worker. */
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { eachEngine } from '../support/engines.ts'
import { inSession, sessionEvents, subscribe } from '../support/events.ts'
import { hubDoorOf, threadUri } from '../support/hub-door.ts'
import { callTool, mailbox, shareParley, startParley, waitingCalls } from '../support/parley.ts'
import { connected } from '../support/post.ts'
import { socketOf } from '../support/sockets.ts'
import { verifies } from '../support/verifies.ts'
import { openSession } from '../support/wire.ts'

const parley = shareParley({
  args: ['--workers', '2'],
  env: {
    WAITS_PER_AGENT: '3',
    HTTP_RATE_LIMIT_ENABLED: 'true',
    HTTP_RATE_LIMIT_TOOLS_PER_MINUTE: '600',
    HTTP_RATE_LIMIT_TOOLS_BURST: '600',
  },
})

/** A connection that was handed to a worker as it was killed is never answered: the next one is. */
const figures = async () => (await fetch(`${parley().url}/metrics`, { signal: AbortSignal.timeout(2_000) })).text()
const figure = async (name: string) => Number(new RegExp(`^${name} ([0-9.e+-]+)`, 'm').exec(await figures())?.[1])

/** Without keep-alive each request is a connection of its own, which the other worker takes next. */
const headers = { Connection: 'close' }

/** The workers by their process, oldest first. */
async function workers({ child: { pid } } = parley()): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(/\s+/).map(Number)
}

verifies('serve.workers.one', 'a session, a wait and the figures are those of both', async () => {
  expect(await figure('parley_workers')).toBe(2)
  const endpoint = `${parley().url}/agents/ann/mcp`
  const session = await openSession(endpoint)
  for (let n = 0; n < 4; n++)
    expect(
      (await callTool(endpoint, 'check_mail', {}, { headers: { ...headers, 'Mcp-Session-Id': session } })).isError,
    ).toBeFalsy()
  const waiting = [1, 2].map((n) => mailbox(parley(), `waiter-${n}`, { headers }).check({ wait_seconds: 20 }))
  await expect.poll(() => waitingCalls(parley())).toBe(2)
  // Each by its own connection: both workers send, and both have somebody who waits.
  for (const n of [1, 2]) await mailbox(parley(), 'ann', { headers }).send(`waiter-${n}`, `for ${n}`)
  expect((await Promise.all(waiting)).map((mail) => mail?.content)).toEqual(['for 1', 'for 2'])
  expect(await figure('parley_waiting')).toBe(0)
})

verifies('serve.workers.limits', 'waits and calls are counted in both as in one', async () => {
  const waits = () => mailbox(parley(), 'crowd', { headers }).check({ wait_seconds: 20 })
  const waiting: Promise<unknown>[] = []
  for (let n = 1; n <= 3; n++) {
    waiting.push(waits())
    await expect.poll(() => waitingCalls(parley())).toBe(n)
  }
  // A worker learns of the waits of the other a moment later: a call that comes in between may wait, here for no time to speak of.
  const refused = () =>
    mailbox(parley(), 'crowd', { headers })
      .check({ wait_seconds: 0.01 })
      .then(
        () => 'waited',
        ({ code }: { code: string }) => code,
      )
  await expect.poll(async () => [await refused(), await refused()]).toEqual(['RATE_LIMITED', 'RATE_LIMITED'])
  for (let n = 1; n <= 3; n++) await mailbox(parley(), 'ann', { headers }).send('crowd', `${n}`)
  await Promise.all(waiting)
})

verifies(
  ['serve.workers.again', 'serve.workers.one'],
  'one is killed: nothing is lost, another takes its place',
  async () => {
    const before = await workers()
    expect(before).toHaveLength(2)
    for (let n = 0; n < 6; n++) await mailbox(parley(), 'ann', { headers }).send('bob', `before ${n}`)
    const sends = 'parley_tool_calls_total{door="mailbox",tool="send_to_agent",outcome="ok"}'
    const count = async () =>
      Number(
        (await figures())
          .split('\n')
          .find((line) => line.startsWith(sends))
          ?.split(' ')[1],
      )
    const counted = await count()
    process.kill(before[1] ?? 0, 'SIGKILL')
    await expect.poll(() => figure('parley_worker_restarts_total')).toBe(1)
    expect(await count()).toBeGreaterThanOrEqual(counted)
    await expect.poll(async () => (await workers()).filter((pid) => !before.includes(pid)).length).toBe(1)
    const contents: (string | undefined)[] = []
    for (let n = 0; n < 6; n++) contents.push((await mailbox(parley(), 'bob', { headers }).check())?.content)
    expect(contents).toEqual([0, 1, 2, 3, 4, 5].map((n) => `before ${n}`))
  },
)

eachEngine('Two workers', (open) => {
  verifies('serve.workers.one', 'are one to streams, sockets and tasks', async () => {
    const own = await startParley({ args: ['--workers', '2'], env: { DATABASE_URL: (await open()).url } })
    const twice = [1, 2]
    const hub = (agent: string) => hubDoorOf(own, agent, { headers })
    const { thread } = await hub('ann').send('bob', 'first')
    const at = hub('bob').endpoint
    const session = await openSession(at)
    await subscribe(at, session, threadUri(thread), headers)
    const stream = await sessionEvents(at, session)
    for (const n of twice) await hub('ann').send('bob', `update ${n}`, { thread })
    await stream.until(twice.length)

    const [one, two] = await connected(own)
    const sockets = await Promise.all(twice.map(() => socketOf(own, two)))
    for (const n of twice) await one.send(two, 'subject', `event ${n}`)
    for (const socket of sockets)
      for (const n of twice) expect(await socket.next()).toMatchObject({ type: 'new_message', content: `event ${n}` })

    const asking = { name: 'apm2.message.ask', arguments: { to: 'bob', text: 'well?', wait_seconds: 60 }, task: {} }
    const token = await openSession(hub('ann').endpoint)
    const { result } = await inSession(hub('ann').endpoint, token, 'tools/call', asking, headers)
    const { taskId } = (result as { task: { taskId: string } }).task
    const asked = await mailbox(own, 'bob', { headers }).check({ wait_seconds: 20 })
    expect(asked?.content).toBe('first')
    const task = async () => (await inSession(hub('ann').endpoint, token, 'tasks/get', { taskId }, headers)).result
    for (const _ of twice) expect(await task()).toMatchObject({ status: 'working' })
    let last = asked
    while (last?.content !== 'well?') last = await mailbox(own, 'bob', { headers }).check({ wait_seconds: 20 })
    await mailbox(own, 'bob', { headers }).send('ann', 'yes', undefined, last.id)
    for (const _ of twice) await expect.poll(task).toMatchObject({ status: 'completed' })
    expect(await own.end()).toBe(0)
  })
})

verifies('serve.reload.nothing', 'a server that has nothing to read anew goes on after SIGHUP', async () => {
  const before = await workers()
  parley().child.kill('SIGHUP')
  for (let n = 0; n < 4; n++) await mailbox(parley(), 'ann', { headers }).send('hup', `${n}`)
  expect(await workers()).toEqual(before)
})

verifies('serve.workers.stop', 'both end with the first process, and those who wait are answered', async () => {
  const own = await startParley({ args: ['--workers', '2', '--accept-loss'] })
  // A loss is accepted once: one that comes later is told when a worker is started again.
  const all = await workers(own)
  const accepting = async (pids: number[]) => {
    const places = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8')))
    return places.map((place) => place.includes('"acceptLoss":true'))
  }
  expect(await accepting(all)).toEqual([true, false])
  process.kill(all[0] ?? 0, 'SIGKILL')
  await expect.poll(async () => (await workers(own)).filter((pid) => !all.includes(pid)).length).toBe(1)
  expect(await accepting(await workers(own))).toEqual([false, false])
  const waiting = [1, 2].map((n) => mailbox(own, `waiter-${n}`, { headers }).check({ wait_seconds: 30 }))
  await expect.poll(() => waitingCalls(own)).toBe(2)
  expect(await own.end()).toBe(0)
  expect(await Promise.all(waiting)).toEqual([null, null])
})
