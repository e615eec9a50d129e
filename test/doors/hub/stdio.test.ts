/** `parley hub --agent NAME`: the same door over stdin and stdout. */

import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished } from 'vitest'
import { bareEnv, eras, runParley, temporaryFolder } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const program = fileURLToPath(new URL('../../../bin/parley.js', import.meta.url))

verifies('hub.stdio.agent', 'two agents of one machine talk, one in each era', async () => {
  const storage = await temporaryFolder()
  const connect = async (agent: string, era: (typeof eras)[number]) => {
    const mode = era === '2026-07-28' ? { pin: era } : 'legacy'
    const client = new Client({ name: 'parley-test', version: '1.0.0' }, { versionNegotiation: { mode } })
    const args = [program, 'hub', '--agent', agent]
    await client.connect(new StdioClientTransport({ command: process.execPath, args, env: bareEnv(storage) }))
    onTestFinished(() => client.close())
    return async (name: string, args: Record<string, unknown>) =>
      (await client.callTool({ name, arguments: args })).structuredContent as Record<string, unknown>
  }
  const alice = await connect('alice', eras[0])
  const bob = await connect('bob', eras[1])
  const { thread } = await alice('apm2.message.send', { to: 'bob', text: 'hello' })
  const waiting = alice('apm2.thread.read', { thread, cursor: '1', wait_seconds: 20 })
  expect(await bob('apm2.thread.read', { thread })).toMatchObject({ messages: [{ text: 'hello', from: 'alice' }] })
  await bob('apm2.message.send', { to: 'alice', text: 'hi', thread })
  expect(await waiting).toMatchObject({ messages: [{ text: 'hi', from: 'bob' }] })
})

verifies('hub.stdio.named', 'without an agent, or with a wrong name, it says what to add', async () => {
  const env = bareEnv(await temporaryFolder())
  const nameless = await runParley(['hub'], env)
  expect([nameless.code, nameless.stdout]).toEqual([1, ''])
  expect(nameless.stderr).toMatch(/needs to know which agent.*\n.*--agent <name>/)
  const wrong = await runParley(['hub', '--agent', 'a b'], env)
  expect(wrong.code).toBe(1)
  expect(wrong.stderr).toMatch(/^--agent must be/)
  const elsewhere = await runParley(['hub', '--agent', 'alice@one', '--project', 'two'], env)
  expect(elsewhere.stderr).toMatch(/^--agent and --project name two projects/)
  for (const { stderr } of [nameless, wrong, elsewhere]) expect(stderr).not.toMatch(/query parameter|\?agent=/)
})
