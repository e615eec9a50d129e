/** The dying bridge: a real server with programs and servers of others that end, fail and flood in every way, and agents who notice nothing. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished } from 'vitest'
import { foreignTool, startForeign } from '../support/foreign-server.ts'
import { callTool, type Later, mailbox, startParley, type ToolResult, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'

const program = fileURLToPath(new URL('../support/foreign-program.ts', import.meta.url))
const later: Later = (work) => onTestFinished(async () => void (await work()))

const limits = { allow: ['search'], timeout_seconds: 10, max_bytes: 65_536 }
const foreign = (what: string) => ({ command: process.execPath, args: [program, what], ...limits })

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('Parley with a bridge', () => {
  verifies(
    ['hub.bridge.dies', 'hub.bridge.memory', 'hub.bridge.ended', 'hub.bridge.log'],
    'lives on, whatever dies at the other end of it, and leaves nobody behind',
    async () => {
      const failing = await startForeign(later)
      failing.fault = (_method, response) => {
        response.writeHead(500).end('secret words of theirs')
        return true
      }
      const bomb = await startForeign(later)
      const fan = (to: string) =>
        Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, { $ref: `#/$defs/${to}` }]))
      const [a, b, c, d] = ['b', 'c', 'd', 'a'].map((to) => ({ type: 'object', properties: fan(to) }))
      bomb.tools = [
        foreignTool('search', { inputSchema: { type: 'object', properties: fan('a'), $defs: { a, b, c, d } } }),
      ]
      const dying = {
        none: { command: '/bin/false', ...limits },
        missing: { command: '/srv/no/such/program', ...limits },
        first: foreign('dies:'),
        discovered: foreign('answers:server/discover'),
        initialize: foreign('dies:initialize'),
        initialized: foreign('dies:notifications/initialized'),
        list: foreign('dies:tools/list'),
        call: foreign('dies:tools/call'),
        failing: { url: failing.url, ...limits },
      }
      const servers = {
        ...dying,
        flood: foreign('floods:start'),
        large: foreign('floods:line'),
        bomb: { url: bomb.url, ...limits },
        well: foreign('well'),
        stays: foreign('stays'),
      }
      const storage = await temporaryFolder()
      const file = join(storage, 'bridge.json')
      await writeFile(file, JSON.stringify({ servers }))
      const env = { BRIDGE_CONFIG: file, HTTP_BEARER_TOKEN: 'the-operators-token', LOG_LEVEL: 'debug' }
      const parley = await startParley({ env, storage })
      const headers = { Authorization: 'Bearer the-operators-token' }
      const at = `${parley.url}/hub/mcp?agent=alice`
      const call = (server: string) => callTool(at, `${server}.search`, { query: 'x' })
      const codeOf = ({ structuredContent }: ToolResult) =>
        (structuredContent as { error?: { code: string } }).error?.code
      const numbers = async (server: string) => {
        const { structuredContent } = await call(server)
        const { content } = structuredContent as { content: { text: string }[] }
        return content[0]?.text.split(' ').map(Number) ?? []
      }

      await mailbox(parley, 'alice').check()
      for (const server of Object.keys(servers)) {
        const wish = { agent: 'alice', server, can: 'call', ttl_seconds: 600 }
        await callTool(`${parley.url}/hub/mcp`, 'apm2.grant.create', wish, { headers })
      }
      // Twice: each is called once while it is away for the first time, and once while it is tried again.
      for (let round = 0; round < 2; round++)
        for (const server of Object.keys(dying))
          expect([server, codeOf(await call(server))]).toEqual([server, 'BRIDGE_UNAVAILABLE'])
      expect(codeOf(await call('large'))).toBe('BRIDGE_TOO_LARGE')
      expect(codeOf(await call('flood'))).toMatch(/^BRIDGE_(UNAVAILABLE|TOO_LARGE)$/)
      expect(codeOf(await call('bomb'))).toBeUndefined()

      const [first = 0] = await numbers('well')
      process.kill(first, 'SIGKILL')
      await parley.printed(/"server":"well"[^\n]*the connection has ended/)
      const [second = 0] = await numbers('well')
      expect(isAlive(second)).toBe(true)

      await mailbox(parley, 'alice').send('bob', 'still here')
      expect(await mailbox(parley, 'bob').check()).toMatchObject({ content: 'still here' })
      expect((await fetch(`${parley.url}/health/readiness`)).status).toBe(200)
      const resident = /^process_resident_memory_bytes (\S+)/m.exec(await (await fetch(`${parley.url}/metrics`)).text())
      expect(Number(resident?.[1])).toBeLessThan(500 << 20)

      const left = [second, ...(await numbers('stays'))]
      expect(left.filter(isAlive)).toHaveLength(3)
      expect(await parley.end()).toBe(0)
      await expect.poll(() => left.filter(isAlive)).toEqual([])
      expect(parley.output.stderr).not.toContain('secret words')
      expect(parley.output.stderr).not.toContain('nobody waited for')
    },
    60_000,
  )
})
