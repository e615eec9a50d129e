/** The protocol's own suite against the engine, with as many of its fixtures as a door of ours can offer. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { required, runConformance } from '../../../scripts/conformance.ts'
import { HubError } from '../../../src/base/errors.ts'
import { type Door, defineTool } from '../../../src/doors/mcp/table.ts'
import type { FixtureScope } from './door.ts'
import { hastyClock } from './engine.ts'
import { startFixture } from './fixture.ts'

/** Tools and resources under the names the suite asks for. */
function suiteDoor(): Door<FixtureScope> {
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
        uri: 'test://template/{id}/data',
        name: 'template',
        description: 'By id.',
        read: async ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
    updates: { begin: async () => '', place: async () => '', follow: async () => () => {} },
  }
}

const withFixtures = [
  'tools-call-simple-text',
  'tools-call-error',
  'tools-call-with-progress',
  'resources-read-text',
  'resources-templates-read',
]

describe.each(Object.entries(required))('protocol %s', (revision, scenarios) => {
  test('every scenario that a door can take part in passes', async () => {
    const fixture = await startFixture({ clock: hastyClock, door: suiteDoor })
    onTestFinished(fixture.close)
    const outcomes = await runConformance(fixture.url, revision, [...scenarios, ...withFixtures])
    expect(outcomes.filter(({ failed }) => failed.length > 0)).toEqual([])
  })
})
