/** The mailbox door through the official client, in both eras of the protocol. */
import { describe, expect } from 'vitest'
import type { Hub } from '../../../src/core/hub/hub.ts'
import { mailboxDoor } from '../../../src/doors/mailbox/door.ts'
import { lintDoor } from '../../support/door-lint.ts'
import { connectClient, eras, mailbox, shareServer, waitingCalls } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

describe.each(eras)('A client of %s', (era) => {
  const connect = (agent: string) => connectClient(`${parley().url}/agents/${agent}-${era}/mcp`, era)

  verifies('all.mcp.eras', 'finds the three tools and holds a conversation', async () => {
    const [alice, bob] = [await connect('alice'), await connect('bob')]
    expect((await alice.listTools()).tools.map(({ name }) => name)).toEqual(['send_to_agent', 'check_mail', 'ack_mail'])
    const sent = await alice.callTool({
      name: 'send_to_agent',
      arguments: { name: `bob-${era}`, msg: 'hello', msg_id: 'x' },
    })
    expect(sent.structuredContent).toEqual({ result: 'x', reach: { state: 'never', text: 'has never been here' } })
    const got = await bob.callTool({ name: 'check_mail', arguments: { lease_seconds: 30 } })
    const { lease } = (got.structuredContent as { result: { lease: string } }).result
    const acked = await bob.callTool({ name: 'ack_mail', arguments: { id: 'x', lease } })
    expect(acked.structuredContent).toEqual({ id: 'x', acked: true })
    const bad = await bob.callTool({ name: 'send_to_agent', arguments: { name: 'no way' } })
    expect(bad).toMatchObject({ isError: true, structuredContent: { error: { code: 'INVALID_ARGUMENT' } } })
  })

  verifies(
    [
      'all.schema.flat',
      'all.schema.short',
      'all.annotations.every-tool',
      'all.tools.always-load',
      'mailbox.check.after',
    ],
    'sees flat schemas, short descriptions, annotations, and which tools to keep loaded',
    async () => {
      const { tools } = await (await connect('reader')).listTools()
      for (const { name, inputSchema, annotations, description } of tools) {
        expect(name).toMatch(/^[A-Za-z0-9_.-]{1,64}$/)
        expect(inputSchema.type).toBe('object')
        expect(JSON.stringify(inputSchema)).not.toMatch(/"\$ref"|"anyOf"|"oneOf"|"allOf"|"type":\[/)
        expect(annotations).toMatchObject({
          readOnlyHint: expect.any(Boolean),
          destructiveHint: expect.any(Boolean),
          idempotentHint: expect.any(Boolean),
        })
        expect(description?.length).toBeLessThan(600)
      }
      const loaded = tools.filter(({ _meta }) => _meta?.['anthropic/alwaysLoad'] === true).map(({ name }) => name)
      expect(loaded).toEqual(['send_to_agent', 'check_mail'])
      expect(tools.find(({ name }) => name === 'check_mail')?.description).toMatch(/after.*identical/)
      expect(JSON.stringify(tools).length).toBeLessThan(5000)
    },
  )

  verifies('mailbox.pop.put-back', 'that cancels its wait takes nothing with it', async () => {
    const bob = await connect('cancelled')
    const stop = new AbortController()
    const waiting = bob.callTool({ name: 'check_mail', arguments: { wait_seconds: 20 } }, { signal: stop.signal })
    await expect.poll(() => waitingCalls(parley())).toBe(1)
    stop.abort()
    await expect(waiting).rejects.toThrow()
    await expect.poll(() => waitingCalls(parley())).toBe(0)
    await mailbox(parley(), 'alice').send(`cancelled-${era}`, 'for later')
    const got = await bob.callTool({ name: 'check_mail', arguments: {} })
    expect(got.structuredContent).toMatchObject({ result: { content: 'for later' } })
  })
})

verifies('all.schema.flat', 'The table of the door breaks none of the rules for what is advertised', () => {
  expect(lintDoor(mailboxDoor({} as Hub))).toEqual([])
})
