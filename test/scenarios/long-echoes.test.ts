/** Errors do not repeat megabytes: every text that a client can choose is sent far too long, at every door. */
import { expect } from 'vitest'
import { shareServer } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import { ask } from '../support/wire.ts'

const parley = shareServer()
const doors = ['/agents/alice/mcp', '/mcp', '/bus/mcp?agent=alice']
/** Many times what an error may have; megabytes would only cost time. */
const long = 'q'.repeat(20_000)

interface Failed {
  message: string
  hint?: string
}

async function post(path: string, body: object, headers: Record<string, string> = {}) {
  const { text } = await ask(parley(), {
    method: 'POST',
    path,
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  })
  return { text, json: JSON.parse(text) }
}

const call = async (path: string, name: unknown, args: unknown): Promise<Failed | undefined> => {
  const { json } = await post(path, { method: 'tools/call', params: { name, arguments: args } })
  return json.error ?? json.result.structuredContent?.error
}

/** Which errors are longer than a few hundred characters, and with their hints a few thousand. */
const tooLong = (what: string, error: Failed | undefined): string[] =>
  error !== undefined && (error.message.length > 600 || JSON.stringify(error).length > 4000)
    ? [`${what}: ${error.message.slice(0, 80)} (${error.message.length}), ${error.hint?.length}`]
    : []

for (const path of doors)
  verifies(
    'all.errors.short',
    `no tool at ${path} repeats a long argument`,
    async () => {
      const { json } = await post(path, { method: 'tools/list' })
      let tried = 0
      const faults: string[] = []
      for (const { name, inputSchema } of json.result.tools) {
        const { properties = {}, required = [] } = inputSchema
        const plain = Object.fromEntries(
          required.map((key: string) => {
            const { type } = properties[key]
            return [
              key,
              type === 'array' ? ['x'] : type === 'integer' || type === 'number' ? 1 : type === 'object' ? {} : 'x',
            ]
          }),
        )
        faults.push(...tooLong(`${name} with a long name`, await call(path, name, { ...plain, [long]: 1 })))
        for (const key of Object.keys(properties))
          for (const value of [
            long,
            [long],
            { [long]: long },
            [{ [long]: 1 }],
            `/${long}`,
            `a@${long}`,
            'z'.repeat(999),
          ]) {
            tried++
            faults.push(...tooLong(`${name}(${key})`, await call(path, name, { ...plain, [key]: value })))
          }
      }
      expect(tried).toBeGreaterThan(20)
      expect(faults).toEqual([])
    },
    60_000,
  )

verifies('all.errors.short', 'no resource repeats a long URI', async () => {
  const { json } = await post('/mcp', { method: 'resources/templates/list' })
  const part = 'q'.repeat(7000)
  const faults: string[] = []
  for (const { uriTemplate } of json.result.resourceTemplates) {
    const filled = uriTemplate.replace(/\{\?.*\}$/, '').replace(/\{\w+\}/g, part)
    const named = uriTemplate.replace(/\{\?.*\}$/, '').replace(/\{\w+\}/g, 'x')
    for (const uri of [
      filled,
      `${named}?${part}=1`,
      `${named}?project=${part}`,
      `${named}?limit=${part}`,
      `${named}/${part}`,
    ]) {
      const answer = await post('/mcp', { method: 'resources/read', params: { uri } })
      faults.push(...tooLong(uri.slice(0, 80), answer.json.error))
    }
  }
  expect(faults).toEqual([])
})

verifies('all.errors.short', 'no refusal of the protocol repeats what it refuses', async () => {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const bodies: object[] = [
    { method: long },
    { method: 'tools/call', params: { name: long } },
    { method: 'ping', [long]: 1 },
    { method: 'ping', params: { _meta: { progressToken: { [long]: long } } } },
    { method: 'tools/list', params: { cursor: { [long]: long } } },
    { method: 'initialize', params: { protocolVersion: long, clientInfo: long } },
    { method: long, params: { _meta: meta } },
    { method: 'tools/call', params: { name: long, _meta: meta } },
    { method: 'ping', params: { _meta: { ...meta, 'io.modelcontextprotocol/protocolVersion': `3${long}` } } },
    { method: 'ping', params: { _meta: { ...meta, 'io.modelcontextprotocol/clientInfo': { [long]: long } } } },
    { method: 'ping', params: { _meta: { ...meta, 'io.modelcontextprotocol/clientCapabilities': long } } },
  ]
  const header = 'q'.repeat(6000)
  for (const path of doors)
    for (const body of bodies)
      for (const headers of [
        {},
        { 'Mcp-Method': header },
        { 'Mcp-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': header },
        { 'Mcp-Protocol-Version': header },
      ]) {
        const { text, json } = await post(path, body, headers)
        expect(text.length, text.slice(0, 200)).toBeLessThan(4000)
        expect(json.error).toBeDefined()
      }
})

verifies('all.errors.short', 'neither a path nor a query is repeated whole', async () => {
  const part = 'q'.repeat(7000)
  for (const path of [
    `/${part}`,
    `/agents/${part}/mcp`,
    `/agents/alice/mcp?project=${part}`,
    `/bus/mcp?agent=${part}`,
  ]) {
    const { text } = await ask(parley(), {
      method: 'POST',
      path,
      headers: { 'Content-Type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_mail"}}',
    })
    expect(text.length, text).toBeLessThan(2000)
  }
})
