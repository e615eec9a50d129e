/** A door with the tools and resources that the protocol's own suite asks for; only tests and the conformance run start it. */
import { z } from 'zod'
import { HubError } from '../../../src/base/errors.ts'
import { type Door, defineTool, RawContent } from '../../../src/doors/mcp/table.ts'
import type { FixtureScope } from './door.ts'
import { hastyClock } from './engine.ts'

/** Tools and resources under the names the suite asks for. */
export function suiteDoor(): Door<FixtureScope> {
  const tool = defineTool<FixtureScope>()
  const rest = {
    title: 'Fixture',
    description: 'For the conformance suite.',
    cluster: 'suite',
    effect: 'read' as const,
    input: z.strictObject({}),
  }
  return {
    name: 'suite',
    title: 'Conformance',
    instructions: '',
    tools: [
      tool({ ...rest, name: 'test_simple_text', run: async () => 'This is a simple text response for testing.' }),
      tool({
        ...rest,
        name: 'test_error_handling',
        run: () =>
          Promise.reject(new HubError('INVALID_ARGUMENT', 'This tool intentionally returns an error for testing')),
      }),
      tool({
        ...rest,
        name: 'test_tool_with_progress',
        // Ticks come every 5 s of this clock, which are 5 ms: three must have come, also on a busy machine.
        run: () => new Promise((resolve) => void hastyClock.after(500_000, () => resolve('done'))),
      }),
    ],
    resources: [
      {
        uri: 'test://static-text',
        name: 'text',
        description: 'Text.',
        read: async () => 'This is the content of the static text resource.',
      },
      {
        uri: 'test://static-binary',
        name: 'binary',
        description: 'Bytes.',
        read: async () => new RawContent('image/png', Buffer.from('89504e470d0a1a0a', 'hex')),
      },
      {
        uri: 'test://template/{id}/data',
        name: 'template',
        description: 'By id.',
        read: async ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
    complete: async () => [],
    updates: { begin: async () => '', place: async () => '', follow: async () => () => {} },
  }
}
