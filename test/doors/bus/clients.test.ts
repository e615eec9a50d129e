/** The bus door as the official client meets it, over stdio in both eras: its tools, their schemas, their results. */
import { describe, expect } from 'vitest'
import type { Hub } from '../../../src/core/hub/hub.ts'
import { busDoor } from '../../../src/doors/bus/door.ts'
import { shareBus } from '../../support/bus.ts'
import { lintDoor } from '../../support/door-lint.ts'
import { eras, type ToolResult } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const spec = [
  'ping',
  'topic_create',
  'topic_list',
  'topic_resolve',
  'topic_close',
  'topic_join',
  'topic_presence',
  'sync',
]
const more = ['topic_reopen', 'cursor_reset']

describe.each(eras)('A client of %s', (era) => {
  const bus = shareBus(1, { era })

  verifies('bus.tools.all', 'finds every tool, with schemas in and out, and is told how to begin', async () => {
    const { client } = bus.peer(0)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining([...spec, ...more]))
    for (const { name, inputSchema, outputSchema } of tools) {
      expect(inputSchema.type, name).toBe('object')
      expect(outputSchema?.type, name).toBe('object')
    }
    const required = Object.fromEntries(tools.map(({ name, inputSchema }) => [name, inputSchema.required ?? []]))
    expect(required).toMatchObject({
      topic_create: [],
      topic_resolve: ['name'],
      topic_join: ['agent_name'],
      topic_presence: ['topic_id'],
      sync: ['topic_id'],
    })
    const loaded = tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true).map(({ name }) => name)
    expect(loaded).toEqual(expect.arrayContaining(['topic_join', 'sync']))
    expect(client.getInstructions()).toMatch(/topic_join.*sync/)
  })

  verifies(
    ['bus.tools.all', 'all.result.twice', 'all.arguments.tool-error'],
    'gets results that fit their schemas, twice, and errors it can read',
    async () => {
      const { client } = bus.peer(0)
      // The client checks each result against the schema that was advertised; it has to have seen it.
      await client.listTools()
      const call = async (name: string, args: Record<string, unknown> = {}) => {
        const result = (await client.callTool({ name, arguments: args })) as ToolResult
        expect(JSON.parse(result.content[0]?.text ?? '')).toEqual(result.structuredContent)
        return result
      }
      const made = await call('topic_create', { name: 'all of them', metadata: { a: 1 } })
      const { topic_id } = made.structuredContent as { topic_id: string }
      const outbox = [{ content_markdown: 'x', metadata: { b: null } }, { content_markdown: 'y' }]
      for (const [tool, args] of [
        ['ping', {}],
        ['topic_join', { agent_name: 'a', topic_id }],
        ['sync', { topic_id, outbox, include_self: true }],
        ['cursor_reset', { topic_id, last_seq: 1 }],
        ['topic_presence', { topic_id }],
        ['topic_close', { topic_id }],
        ['topic_close', { topic_id, reason: 'twice' }],
        ['topic_list', { status: 'all' }],
        ['topic_resolve', { name: 'all of them', allow_closed: true }],
        ['topic_reopen', { topic_id }],
        ['topic_reopen', { topic_id }],
      ] as const)
        expect((await call(tool, args)).isError ?? false, tool).toBe(false)
      for (const [tool, args] of [
        ['sync', {}],
        ['sync', { topic_id, wait: 5 }],
        ['topic_join', { topic_id }],
        ['ping', { loud: true }],
      ] as const)
        expect(await call(tool, args), tool).toMatchObject({
          isError: true,
          structuredContent: { error: { code: 'INVALID_ARGUMENT', hint: expect.any(String) } },
        })
      await expect(client.callTool({ name: 'topic_delete', arguments: {} })).rejects.toMatchObject({ code: -32602 })
    },
  )
})

verifies(
  ['bus.tools.all', 'all.schema.flat'],
  'The table of the door breaks none of the rules for what is advertised',
  () => {
    const door = busDoor({} as Hub, '1.0.0')
    expect(lintDoor(door)).toEqual([])
    for (const { name, output } of door.tools) expect(output, name).toBeDefined()
  },
)
