/** `parley bus` as a process: what it writes where, what it needs to run, and how it ends. */
import { rmdir } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { type BusOptions, httpPeer, startBus, waiting } from '../../support/bus.ts'
import { eras, serveHere, spawnParley, temporaryFolder } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

interface Line {
  id: number
  result: { structuredContent: Record<string, unknown> }
}

/** The process by hand: lines in, lines out, and nobody between. */
async function startLines(storage: string, { env = {}, cwd = storage }: Partial<BusOptions> = {}) {
  const bus = spawnParley(['bus'], { STORAGE_ROOT: storage, ...env }, { cwd })
  bus.child.stdin.on('error', () => {})
  let id = 0
  const write = (tool: string, args: object = {}) => {
    const params = { name: tool, arguments: args }
    bus.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params })}\n`)
    return id
  }
  const answer = async (to: number): Promise<Record<string, unknown>> => {
    const [line = ''] = await bus.printed(new RegExp(`^\\{"jsonrpc":"2.0","id":${to},[^\n]*\n`, 'm'))
    return (JSON.parse(line) as Line).result.structuredContent
  }
  return { ...bus, write, answer, call: (tool: string, args?: object) => answer(write(tool, args)) }
}

verifies('bus.stdio.protocol', 'Its stdout is JSON-RPC, a line each, and its log goes to stderr', async () => {
  const storage = await temporaryFolder()
  const { call, child, output, gone } = await startLines(storage, { env: { LOG_LEVEL: 'trace' } })
  child.stdin.write('this is no message\n{"jsonrpc":"2.0","neither":true}\n')
  const { topic_id } = await call('topic_create', { name: 'lines' })
  await call('topic_join', { agent_name: 'a', topic_id })
  await call('sync', { topic_id, outbox: [{ content_markdown: 'two\nlines \u2028 and more' }], include_self: true })
  await call('sync', { topic_id: 'wrong' })
  child.stdin.end()
  expect(await gone).toBe(0)
  const lines = output.stdout.split('\n')
  expect(lines.pop()).toBe('')
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  expect(lines).toHaveLength(6)
  expect(output.stderr).toContain('a line on stdin was refused')
})

verifies('all.stdio.survives', 'No line ends it: it answers, and goes on', async () => {
  const { call, child, output, gone } = await startLines(await temporaryFolder())
  const nested = '['.repeat(200_000) + ']'.repeat(200_000)
  child.stdin.write(`{"jsonrpc":"2.0","id":"deep","method":"ping","params":{"_meta":{"x":${nested}}}}\n`)
  child.stdin.write('[{"jsonrpc":"2.0","id":"batch","method":"ping"}]\n')
  expect(await call('topic_create', { name: 'after all that' })).toMatchObject({ status: 'open' })
  child.stdin.end()
  expect(await gone).toBe(0)
  const [deep, batch] = output.stdout.split('\n').map((line) => line && JSON.parse(line))
  expect(deep).toMatchObject({ id: null, error: { code: -32600, message: expect.stringContaining('100 levels') } })
  expect(batch).toMatchObject({ id: null, error: { code: -32600, message: expect.stringContaining('batches') } })
})

verifies(
  ['bus.stdio.anywhere', 'bus.stdio.protocol'],
  'It needs no more of the environment than a home, in whatever folder it is started',
  async () => {
    const home = await temporaryFolder()
    const folder = await temporaryFolder()
    for (const cwd of ['/', '/proc/self', folder]) {
      const bus = spawnParley(['bus'], { HOME: home }, { cwd })
      if (cwd === folder) await rmdir(folder)
      bus.child.stdin.write(
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"topic_create","arguments":{"name":"same"}}}\n',
      )
      await bus.printed(/"name":"same"/)
      bus.child.stdin.end()
      expect(await bus.gone, cwd).toBe(0)
      expect(bus.output.stderr, cwd).toBe('')
    }
    // All of them worked on the one file below that home.
    const there = httpPeer(await serveHere({ storage: `${home}/.parley` }))
    expect(await there.call('topic_list')).toMatchObject({ count: 1 })
  },
)

describe('It ends', () => {
  verifies('bus.stdio.protocol', 'when its stdin does, also while calls wait, and by SIGTERM and SIGINT', async () => {
    const storage = await temporaryFolder()
    for (const end of ['stdin', 'SIGTERM', 'SIGINT'] as const) {
      const { child, call, write, gone, output } = await startLines(storage)
      const { topic_id } = await call('topic_create', { name: 'the end' })
      await call('topic_join', { agent_name: 'a', topic_id })
      const waits = write('sync', { topic_id, wait_seconds: 50 })
      await expect.poll(() => waiting(storage, String(topic_id))).toEqual(['a'])
      if (end === 'stdin') child.stdin.end()
      else child.kill(end)
      expect(await gone, end).toBe(0)
      // The end of input need not be the end of the reader: the wait is answered, with nothing.
      const answer = output.stdout.split('\n').find((line) => line.includes(`"id":${waits},`))
      expect(JSON.parse(answer ?? '{}'), end).toMatchObject({ result: { structuredContent: { received: [] } } })
      expect(output.stderr, end).toBe('')
    }
  })

  verifies('bus.stdio.protocol', 'when stdin had ended before it was ready', async () => {
    const storage = await temporaryFolder()
    const { child, gone, output } = await startLines(storage)
    child.stdin.end()
    expect(await gone).toBe(0)
    expect(output).toEqual({ stdout: '', stderr: '' })
  })
})

verifies('bus.wait.untouched', 'A wait whose stdout breaks moves no cursor, and frees the name', async () => {
  const storage = await temporaryFolder()
  const alice = httpPeer(await serveHere({ storage }), '?agent=alice')
  const topic_id = await alice.join('alice', 'broken')
  let bob = await startLines(storage)
  await bob.call('topic_join', { agent_name: 'bob', topic_id })
  for (let n = 0; n < 3; n++) {
    bob.write('sync', { topic_id, wait_seconds: 50 })
    await expect.poll(() => waiting(storage, topic_id)).toEqual(['bob'])
    // It still listens, but nobody reads what it says. It learns that when it tries to tell.
    bob.child.stdout.destroy()
    await alice.send(topic_id, `number ${n}`)
    expect(await bob.gone).toBe(0)
    bob = await startLines(storage)
    expect(await bob.call('topic_join', { agent_name: 'bob', topic_id })).toMatchObject({ agent_name: 'bob' })
    expect(await bob.call('sync', { topic_id, wait_seconds: 0 })).toMatchObject({
      received: [{ content_markdown: `number ${n}` }],
    })
  }
  bob.child.stdin.end()
  await bob.gone
})

verifies('bus.wait.untouched', 'A call that is cancelled while it reads has read nothing', async () => {
  const storage = await temporaryFolder()
  const alice = httpPeer(await serveHere({ storage }), '?agent=alice')
  const topic_id = await alice.join('alice', 'cancelled')
  const bob = await startLines(storage)
  await bob.call('topic_join', { agent_name: 'bob', topic_id })
  for (let n = 0; n < 5; n++) {
    await alice.send(topic_id, `number ${n}`)
    // Both lines come at once: the call is under way when it is cancelled, and what it read is there.
    bob.child.stdin.cork()
    const requestId = bob.write('sync', { topic_id, wait_seconds: 0 })
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }
    bob.child.stdin.write(`${JSON.stringify(cancelled)}\n`)
    bob.child.stdin.uncork()
    // Whatever is asked after that comes after what was taken back, or is woken by it.
    expect(await bob.call('sync', { topic_id, wait_seconds: 20 })).toMatchObject({
      status: 'ready',
      received: [{ content_markdown: `number ${n}` }],
    })
    expect(bob.output.stdout).not.toContain(`"id":${requestId},`)
  }
})

verifies('bus.stdio.anywhere', 'It works in the project that --project names', async () => {
  const storage = await temporaryFolder()
  const here = httpPeer(await serveHere({ storage }), '?agent=a')
  const there = await startBus({ storage, era: eras[1], args: ['--project', '/srv/other place'] })
  const topic = await here.join('a', 'apart')
  expect(await there.join('a', 'apart')).not.toBe(topic)
  await expect(there.sync(topic)).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
})
