/** Calls that run as tasks, in both eras; and the notes that a client asks for. */
import { describe, expect } from 'vitest'
import { inSession, sessionEvents } from '../../support/events.ts'
import { hubDoorOf } from '../../support/hub-door.ts'
import { says, startEndpoint } from '../../support/openai.ts'
import { mailbox, type Served, serveHere, shareServer, startParley } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'
import { openSession } from '../../support/wire.ts'

type Json = Record<string, unknown>

const parley = shareServer()
const as = (agent: string, served: Served = parley()) => hubDoorOf(served, agent)

let count = 0
const names = (...all: string[]): string[] => {
  count++
  return all.map((name) => `${name}${count}`)
}

const extension = 'io.modelcontextprotocol/tasks'
const immediate = 'io.modelcontextprotocol/model-immediate-response'

/** A request of 2026-07-28, with or without the extension. */
async function modern(url: string, method: string, params: Json, { tasks = true } = {}) {
  const version = '2026-07-28'
  const name = params.name ?? params.taskId
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(name !== undefined && { 'mcp-name': String(name) }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': version,
          'io.modelcontextprotocol/clientInfo': { name: 'parley-test', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': tasks ? { extensions: { [extension]: {} } } : {},
          ...(params._meta as Json),
        },
      },
    }),
  })
  const text = await response.text()
  const events = text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6)) as Json] : []))
  const answer = (events.at(-1) ?? JSON.parse(text)) as {
    result?: Json & { taskId: string; structuredContent?: Json; _meta: Json }
    error?: { code: number }
  }
  return { ...answer, events }
}

const ask = (to: string, text = 'well?', wait_seconds = 600) => ({
  name: 'apm2.message.ask',
  arguments: { to, text, wait_seconds },
})

async function threadOf(agent: string, served: Served = parley()): Promise<string> {
  const own = await as(agent, served)
    .read<{ threads: { thread: string }[] }>(`apm2://agents/${agent}`)
    .catch(() => undefined)
  return own?.threads[0]?.thread ?? threadOf(agent, served)
}

describe('In a session', () => {
  const start = async (agent: string, params: Json, served: Served = parley()) => {
    const token = await openSession(as(agent, served).endpoint)
    const call = (method: string, more: Json) => inSession(as(agent, served).endpoint, token, method, more)
    const { result } = await call('tools/call', params)
    return {
      token,
      call,
      result: result as Json,
      task: result?.task as { taskId: string; status: string; ttl: number },
    }
  }

  verifies(
    ['hub.tasks.legacy', 'hub.tasks.immediate', 'hub.tasks.status'],
    'a call is a task where that is asked',
    async () => {
      const [alice = '', bob = ''] = names('alice', 'bob')
      const { token, call, task, result } = await start(alice, { ...ask(bob), task: { ttl: 60_000 } })
      expect(result).toEqual({
        task: {
          taskId: expect.any(String),
          status: 'working',
          createdAt: expect.any(String),
          lastUpdatedAt: expect.any(String),
          ttl: 60_000,
          pollInterval: expect.any(Number),
        },
        _meta: { [immediate]: expect.stringContaining(task.taskId) },
      })
      const { taskId } = task
      expect((await call('tasks/get', { taskId })).result).toEqual(result.task)
      expect((await call('tasks/list', {})).result).toEqual({ tasks: [result.task] })
      const stream = await sessionEvents(as(alice).endpoint, token)
      const waiting = call('tasks/result', { taskId })
      await as(bob).send(alice, 'yes', { thread: await threadOf(bob) })
      expect((await waiting).result).toMatchObject({
        structuredContent: { reply: { text: 'yes', from: bob } },
        _meta: { 'io.modelcontextprotocol/related-task': { taskId } },
      })
      await expect
        .poll(
          () => stream.events.find(({ message }) => message?.method === 'notifications/tasks/status')?.message?.params,
        )
        .toMatchObject({ taskId, status: 'completed' })
      expect((await call('tasks/get', { taskId })).result).toMatchObject({ status: 'completed' })
      expect((await call('tasks/cancel', { taskId })).error?.code).toBe(-32602)
      // A second one is cancelled.
      const { task: other } = (await call('tools/call', { ...ask(bob), task: {} })).result as {
        task: { taskId: string }
      }
      expect((await call('tasks/cancel', { taskId: other.taskId })).result).toMatchObject({ status: 'cancelled' })
      expect((await call('tasks/result', { taskId: other.taskId })).error?.code).toBe(-32602)
      // One that fails, one that cannot be a task, and one that nobody asked for as one.
      const failing = { ...ask(bob), arguments: { to: bob, text: 'x', thread: 'no-such' }, task: {} }
      const { task: failed } = (await call('tools/call', failing)).result as { task: { taskId: string } }
      expect((await call('tasks/result', { taskId: failed.taskId })).result).toMatchObject({
        isError: true,
        structuredContent: { error: { code: 'THREAD_NOT_FOUND' } },
      })
      expect((await call('tools/call', { name: 'apm2.agents.list', task: {} })).error?.code).toBe(-32601)
      expect((await call('tools/call', ask(bob, 'now?', 0))).result).toHaveProperty('structuredContent')
    },
  )

  verifies('hub.tasks.owned', 'a task is unknown to everybody else', async () => {
    const [alice = '', bob = '', mallory = ''] = names('alice', 'bob', 'mallory')
    const { task } = await start(alice, { ...ask(bob), task: {} })
    const { call } = await start(mallory, { ...ask(bob, 'x', 0) })
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      expect((await call(method, { taskId: task.taskId })).error?.code).toBe(-32602)
    expect((await call('tasks/list', {})).result).toEqual({ tasks: [] })
    // Its owner finds it from any session of its own.
    const { call: own } = await start(alice, { ...ask(bob, 'x', 0) })
    expect((await own('tasks/get', { taskId: task.taskId })).result).toMatchObject({ status: 'working' })
  })

  verifies('hub.tasks.ttl', 'the time that a task is kept is as asked, within bounds', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const { call, task } = await start(alice, { ...ask(bob), task: { ttl: 1 } })
    expect(task.ttl).toBe(1000)
    const ttlOf = async (ttl: number) =>
      ((await call('tools/call', { ...ask(bob), task: { ttl } })).result as { task: { ttl: number } }).task.ttl
    expect(await ttlOf(30 * 86_400_000)).toBe(7 * 86_400_000)
    await expect
      .poll(async () => (await call('tasks/get', { taskId: task.taskId })).error?.code, { timeout: 3000 })
      .toBe(-32602)
  })

  verifies('hub.tasks.kept', 'a task goes on after a restart, and sends nothing twice', async () => {
    const [alice = '', bob = ''] = names('alice', 'bob')
    const before = await startParley()
    const { token, task } = await start(alice, { ...ask(bob), task: {} }, before)
    const thread = await threadOf(bob, before)
    await before.end('SIGKILL')
    const after = await serveHere({ storage: before.storage })
    const waiting = inSession(as(alice, after).endpoint, token, 'tasks/result', { taskId: task.taskId })
    await as(bob, after).send(alice, 'late', { thread })
    expect((await waiting).result).toMatchObject({ structuredContent: { thread, reply: { text: 'late' } } })
    expect((await as(bob, after).thread(thread)).messages).toHaveLength(2)
  })
})

verifies('hub.tasks.unread', 'a reply is unread until the result of its task is handed out', async () => {
  const [alice = '', bob = ''] = names('alice', 'bob')
  const { endpoint } = as(alice)
  const token = await openSession(endpoint)
  const call = (method: string, params: Json) => inSession(endpoint, token, method, params)
  const statusOf = async (taskId: string) => (await call('tasks/get', { taskId })).result?.status
  const unread = async () => {
    const { threads } = await as(alice).read<{ threads: { unread: number }[] }>(`apm2://agents/${alice}`)
    return threads.reduce((sum, one) => sum + one.unread, 0)
  }
  /** A task that has received its reply, and that nobody has fetched. */
  const received = async (reply: string): Promise<string> => {
    const taskId = (await modern(endpoint, 'tools/call', ask(bob))).result?.taskId ?? ''
    const question = await mailbox(parley(), bob).check({ wait_seconds: 20 })
    await mailbox(parley(), bob).send(alice, reply, question?.id)
    await expect.poll(() => statusOf(taskId)).toBe('completed')
    expect(await unread()).toBe(1)
    return taskId
  }
  await modern(endpoint, 'tasks/get', { taskId: await received('one') })
  expect(await unread()).toBe(0)
  await call('tasks/result', { taskId: await received('two') })
  expect(await unread()).toBe(0)
  // Nobody asks for the result: the reply is mail as any other.
  const forgotten = await received('three')
  expect(await mailbox(parley(), alice).check()).toMatchObject({ content: 'three' })
  // It comes with the result all the same.
  expect((await call('tasks/result', { taskId: forgotten })).result).toMatchObject({
    structuredContent: { reply: { text: 'three' } },
  })
})

verifies('hub.tasks.modern', 'with the extension a call that waits is a task, without it the call waits', async () => {
  const [alice = '', bob = ''] = names('alice', 'bob')
  const { endpoint } = as(alice)
  const { result } = await modern(endpoint, 'tools/call', ask(bob))
  expect(result).toMatchObject({
    resultType: 'task',
    status: 'working',
    ttlMs: expect.any(Number),
    pollIntervalMs: expect.any(Number),
    _meta: { [immediate]: expect.any(String) },
  })
  const taskId = result?.taskId ?? ''
  expect((await modern(endpoint, 'tasks/get', { taskId })).result).toMatchObject({
    resultType: 'complete',
    status: 'working',
  })
  expect((await modern(endpoint, 'tasks/get', { taskId }, { tasks: false })).error?.code).toBe(-32021)
  expect((await modern(endpoint, 'tasks/update', { taskId, inputResponses: {} })).result).toMatchObject({
    resultType: 'complete',
  })
  await as(bob).send(alice, 'yes', { thread: await threadOf(bob) })
  await expect
    .poll(async () => (await modern(endpoint, 'tasks/get', { taskId })).result)
    .toMatchObject({
      status: 'completed',
      result: { structuredContent: { reply: { text: 'yes' } } },
    })
  const send = (more: Json) => ({ name: 'apm2.message.send', arguments: { to: bob, text: 'x', ...more } })
  expect((await modern(endpoint, 'tools/call', send({}))).result).toMatchObject({ resultType: 'complete' })
  const sent = await modern(endpoint, 'tools/call', send({ await_reply_seconds: 600 }))
  expect(sent.result).toMatchObject({ resultType: 'task' })
  const cancel = await modern(endpoint, 'tasks/cancel', { taskId: sent.result?.taskId })
  expect(cancel.result).toMatchObject({ resultType: 'complete' })
  expect((await modern(endpoint, 'tasks/get', { taskId: sent.result?.taskId })).result).toMatchObject({
    status: 'cancelled',
  })
  const plain = await modern(endpoint, 'tools/call', ask(bob, 'now?', 0), { tasks: false })
  expect(plain.result).toMatchObject({ resultType: 'complete', structuredContent: { reply: null } })
})

verifies('hub.logging.calls', 'at debug a client is told of each of its calls, in both eras', async () => {
  const [alice = '', bob = ''] = names('alice', 'bob')
  const token = await openSession(as(alice).endpoint)
  const raw = async (params: Json) => {
    const response = await fetch(as(alice).endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': token,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...params }),
    })
    return response.text()
  }
  const send = { method: 'tools/call', params: { name: 'apm2.message.send', arguments: { to: bob, text: 'a secret' } } }
  expect(await raw(send)).not.toContain('notifications/message')
  await raw({ method: 'logging/setLevel', params: { level: 'debug' } })
  const [note = ''] = (await raw(send)).split('\n').filter((line) => line.includes('notifications/message'))
  expect(JSON.parse(note.slice(6)).params).toMatchObject({
    level: 'debug',
    logger: 'parley.hub',
    data: { tool: 'apm2.message.send' },
  })
  expect(note).not.toContain('secret')
  const told = await modern(as(alice).endpoint, 'tools/call', {
    ...send.params,
    _meta: { 'io.modelcontextprotocol/logLevel': 'debug' },
  })
  expect(told.events[0]).toMatchObject({ method: 'notifications/message', params: { logger: 'parley.hub' } })
  await raw({ method: 'logging/setLevel', params: { level: 'info' } })
  expect(await raw(send)).not.toContain('notifications/message')
})

verifies('hub.tasks.summaries', 'a summary that a language model refines is a task, one without is none', async () => {
  const endpoint = await startEndpoint()
  endpoint.replies(says({ overview: 'Cursors it is.' }))
  const served = await serveHere({ env: { LLM_BASE_URL: endpoint.url, LLM_API_KEY: 'k', LLM_DEFAULT_MODEL: 'm' } })
  const { thread } = await as('alice', served).send('bob', 'the plan')
  await as('bob', served).send('alice', 'good', { thread })
  const url = `${served.url}/mcp`
  const summarize = (llm_mode: boolean) =>
    modern(url, 'tools/call', {
      name: 'summarize_thread',
      arguments: { project_key: 'commons', thread_id: thread, llm_mode },
    })
  expect((await summarize(false)).result).toMatchObject({ resultType: 'complete' })
  const { result } = await summarize(true)
  expect(result).toMatchObject({ resultType: 'task' })
  await expect
    .poll(async () => (await modern(url, 'tasks/get', { taskId: result?.taskId })).result)
    .toMatchObject({ status: 'completed', result: { structuredContent: { summary: expect.anything() } } })
  expect(endpoint.asked).toHaveLength(1)
})
