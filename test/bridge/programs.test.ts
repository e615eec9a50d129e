/** Programs of others behind the bridge: whatever becomes of one, Parley goes on, within its bounds. */
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import type { RemoteServer } from '../../src/remote-tools/config.ts'
import { openRemoteTools, type RemoteTools } from '../../src/remote-tools/remote-tools.ts'
import { startForeign } from '../support/foreign-server.ts'
import { readableLog } from '../support/logged.ts'
import { verifies } from '../support/verifies.ts'

/** Ten times as fast: what is tried again after a second is after a tenth of one. */
const hasty: Clock = {
  now: () => systemClock.now(),
  monotonic: () => 10 * systemClock.monotonic(),
  after: (ms, fn) => systemClock.after(ms / 10, fn),
}

const program = fileURLToPath(new URL('../support/foreign-program.ts', import.meta.url))
const limits = { allow: ['search'], timeout_seconds: 100, max_bytes: 65_536 }
const foreign = (what: string): RemoteServer => ({
  command: process.execPath,
  args: [program, what],
  env: {},
  ...limits,
})
const started = (command: string): RemoteServer => ({ command, args: [], env: {}, ...limits })

function open(server: RemoteServer) {
  const { log, lines } = readableLog()
  const remoteTools = openRemoteTools(new Map([['other', server]]), { version: '0', clock: hasty, log })
  onTestFinished(() => remoteTools.close())
  return { remoteTools, lines, away: () => lines.filter(({ msg }) => msg === 'a remote MCP server is away').length }
}

const isKnown = (remoteTools: RemoteTools) => remoteTools.tools(['other']).some(({ known }) => known)

async function call(remoteTools: RemoteTools): Promise<string> {
  const [tool] = remoteTools.tools(['other'])
  if (tool === undefined) throw new Error('there is no tool')
  return remoteTools.call(tool, {}, new AbortController().signal).then(
    ({ content: [part] }) => (part as { text: string }).text,
    ({ code }: { code: string }) => code,
  )
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const numbersOf = (said: string): number[] => said.split(' ').map(Number)

describe('A program that ends', () => {
  const neverThere: [string, RemoteServer][] = [
    ['before it is asked', started('/bin/false')],
    ['at its first input', foreign('dies:')],
    ['once it has answered that', foreign('answers:server/discover')],
    ['at initialize', foreign('dies:initialize')],
    ['once it has answered initialize', foreign('answers:initialize')],
    ['when it is told that all is ready', foreign('dies:notifications/initialized')],
    ['at the list of its tools', foreign('dies:tools/list')],
    ['and was never there', started('/srv/no/such/program')],
    ['and is a folder', started('/')],
    ['and has a name that no program can have', started('a\0b')],
  ]
  for (const [when, server] of neverThere)
    verifies('hub.bridge.dies', `${when} is away, and tried again`, async () => {
      const { remoteTools, away } = open(server)
      expect(await call(remoteTools)).toBe('BRIDGE_UNAVAILABLE')
      await expect.poll(away, { timeout: 5000 }).toBeGreaterThan(1)
      expect(await call(remoteTools)).toBe('BRIDGE_UNAVAILABLE')
    })

  verifies('hub.bridge.dies', 'with its tools listed is started again, less and less often', async () => {
    const { remoteTools, away } = open(foreign('answers:tools/list'))
    await expect.poll(() => isKnown(remoteTools), { timeout: 5000 }).toBe(true)
    await expect.poll(away, { timeout: 5000 }).toBeGreaterThan(1)
  })

  verifies('hub.bridge.dies', 'at a call is away for that call, and there for the next', async () => {
    const { remoteTools } = open(foreign('dies:tools/call'))
    expect(await call(remoteTools)).toBe('BRIDGE_UNAVAILABLE')
    expect(await call(remoteTools)).toBe('BRIDGE_UNAVAILABLE')
    expect(isKnown(remoteTools)).toBe(true)
  })

  verifies('hub.bridge.dies', 'because it is killed is there again', async () => {
    const { remoteTools, away } = open(foreign('well'))
    const [first = 0] = numbersOf(await call(remoteTools))
    process.kill(first, 'SIGKILL')
    await expect.poll(away).toBe(1)
    const [second = 0] = numbersOf(await call(remoteTools))
    expect(second).toBeGreaterThan(0)
    expect(second).not.toBe(first)
  })

  verifies('hub.bridge.dies', 'at a question that it does not know is asked as older programs are', async () => {
    expect(await call(open(foreign('dies:server/discover')).remoteTools)).toMatch(/^\d+$/)
  })
})

describe('A server over HTTP that fails', () => {
  for (const method of ['server/discover', 'initialize', 'notifications/initialized', 'tools/list'])
    for (const how of ['500', 'the connection ends'] as const)
      verifies('hub.bridge.dies', `at ${method} (${how}) is away, and its words stay out of the log`, async () => {
        const server = await startForeign((work) => onTestFinished(async () => void (await work())))
        server.fault = (asked, response) => {
          if (asked !== method) return false
          if (how === '500') response.writeHead(500).end('secret words of theirs')
          else response.destroy()
          return true
        }
        const { remoteTools, away, lines } = open({ url: server.url, headers: {}, ...limits })
        expect(await call(remoteTools)).toBe('BRIDGE_UNAVAILABLE')
        await expect.poll(away, { timeout: 5000 }).toBeGreaterThan(1)
        expect(JSON.stringify(lines)).not.toContain('secret words')
      })

  verifies('hub.bridge.log', 'at a call is in the log with its status, without a word of its own', async () => {
    const server = await startForeign((work) => onTestFinished(async () => void (await work())))
    server.tools = [{ name: 'search', inputSchema: { type: 'object' } }]
    const { remoteTools, lines } = open({ url: server.url, headers: {}, ...limits })
    await expect.poll(() => isKnown(remoteTools)).toBe(true)
    server.answer = (response) => response.writeHead(500).end('secret words of theirs')
    expect(await call(remoteTools)).toBe('BRIDGE_UNAVAILABLE')
    expect(lines.filter(({ msg }) => msg === 'a bridged call failed')).toMatchObject([{ server: 'other', status: 500 }])
    server.answer = (response, id) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'secret words of theirs' } }))
    }
    expect(await call(remoteTools)).toBe('BRIDGE_UNAVAILABLE')
    expect(JSON.stringify(lines)).not.toContain('secret words')
  })

  verifies('hub.bridge.dies', 'since it forgot the session is there for the next call', async () => {
    const server = await startForeign((work) => onTestFinished(async () => void (await work())))
    server.tools = [{ name: 'search', inputSchema: { type: 'object' } }]
    const { remoteTools } = open({ url: server.url, headers: {}, ...limits })
    await expect.poll(() => isKnown(remoteTools)).toBe(true)
    let forgotten = true
    server.fault = (method, response) => {
      if (method === 'initialize') forgotten = false
      if (forgotten) response.writeHead(404).end()
      return forgotten
    }
    expect(await call(remoteTools)).toBe('BRIDGE_UNAVAILABLE')
    expect(await call(remoteTools)).toBe('done')
  })
})

describe('A program that floods its stdout', () => {
  for (const what of ['floods:start', 'floods:line', 'floods:lines'])
    verifies('hub.bridge.memory', `is cut off at max_bytes (${what})`, async () => {
      const { remoteTools, away } = open(foreign(what))
      if (what !== 'floods:start') await expect.poll(() => isKnown(remoteTools), { timeout: 5000 }).toBe(true)
      const before = process.memoryUsage()
      const answer = await call(remoteTools)
      expect(answer).toMatch(what === 'floods:start' ? /^BRIDGE_(UNAVAILABLE|TOO_LARGE)$/ : /^BRIDGE_TOO_LARGE$/)
      await expect.poll(away).toBeGreaterThan(0)
      const { external, heapUsed } = process.memoryUsage()
      expect(external + heapUsed - before.external - before.heapUsed).toBeLessThan(100 << 20)
    })
})

describe('A program that stays when its stdin ends', () => {
  verifies('hub.bridge.ended', 'is killed with what it has started', async () => {
    const { remoteTools } = open(foreign('stays'))
    const pids = numbersOf(await call(remoteTools))
    expect(pids).toHaveLength(2)
    await remoteTools.close()
    await expect.poll(() => pids.filter(isAlive)).toEqual([])
  })
})
