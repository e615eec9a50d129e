/** Every tool and resource of every door, in projects that nobody has made: what fails or only reads leaves nothing behind. */
import type { Client } from '@modelcontextprotocol/client'
import { beforeAll, describe, expect } from 'vitest'
import { countRows } from '../support/counting.ts'
import { newDesk } from '../support/mail.ts'
import { connectClient, shareServer } from '../support/parley.ts'
import { busSamples, hubSamples, mailboxSamples, mailSamples, type Samples } from '../support/samples.ts'
import { verifies } from '../support/verifies.ts'

const parley = shareServer()

type Json = Record<string, unknown>

const made = () => {
  const { projects, agents, threads } = countRows(parley().storage)
  return { projects, agents, threads }
}

interface Door {
  /** Where it is served for a project. */
  path(place: string): string
  args(place: string): Samples
  /** The tools that make an agent, a topic or a project by their success. */
  readonly makers: readonly string[]
}

const inUrl = (place: string) => `project=${encodeURIComponent(place)}`

const doors: Readonly<Record<string, Door>> = {
  mail: {
    path: () => '/mcp',
    args: mailSamples,
    makers: [
      ...['ensure_project', 'register_agent', 'create_agent_identity'],
      ...['macro_start_session', 'macro_prepare_thread'],
    ],
  },
  mailbox: {
    path: (place) => `/agents/alice/mcp?${inUrl(place)}`,
    args: () => mailboxSamples,
    makers: ['send_to_agent', 'check_mail'],
  },
  bus: {
    path: (place) => `/bus/mcp?agent=alice&${inUrl(place)}`,
    args: () => busSamples,
    makers: ['topic_create'],
  },
  hub: {
    path: (place) => `/hub/mcp?agent=alice&${inUrl(place)}`,
    args: () => hubSamples,
    makers: ['apm2.message.send', 'apm2.message.ask', 'apm2.message.broadcast'],
  },
}

describe.each(Object.entries(doors))('At the %s door', (name, { path, args, makers }) => {
  verifies(
    ['all.calls.nothing-made', 'all.project.unknown', 'bus.sync.unknown-project'],
    'no tool makes anything in a project with a mistyped name',
    async () => {
      const client = await connectClient(`${parley().url}${path('bakend')}`, '2025-11-25')
      const samples = args('bakend')
      for (const { name: tool } of (await client.listTools()).tools) {
        expect(samples, `${tool} has no arguments here`).toHaveProperty(tool)
        const before = made()
        const { isError = false, structuredContent } = await call(client, tool, samples[tool] ?? {})
        expect.soft(made(), tool).toEqual(before)
        // These name no project.
        if (['health_check', 'ping', 'uninstall_precommit_guard'].includes(tool)) continue
        const code = Object.hasOwn(samples[tool] ?? {}, 'human_key') ? 'INVALID_ARGUMENT' : 'PROJECT_NOT_FOUND'
        expect.soft({ tool, isError, structuredContent }).toMatchObject({
          isError: true,
          structuredContent: { error: { code, hint: expect.any(String) } },
        })
      }
    },
  )

  verifies(
    'all.calls.nothing-made',
    'in a new folder only the tools that make something do, and only once',
    async () => {
      let n = 0
      for (const tool of Object.keys(args(''))) {
        const place = `/srv/never/${name}-${++n}`
        const client = await connectClient(`${parley().url}${path(place)}`, '2025-11-25')
        const before = made()
        const { isError = false } = await call(client, tool, args(place)[tool] ?? {})
        const made1 = made()
        if (makers.includes(tool)) {
          expect.soft({ tool, isError, projects: made1.projects }).toEqual({
            tool,
            isError: false,
            projects: (before.projects ?? 0) + 1,
          })
        } else expect.soft({ tool, ...made1 }).toEqual({ tool, ...before })
      }
    },
  )
})

const call = (client: Client, name: string, args: Json) =>
  client.callTool({ name, arguments: args }) as Promise<{ isError?: boolean; structuredContent?: unknown }>

describe('Resources', () => {
  let project = ''
  beforeAll(async () => {
    project = (await newDesk(parley())).project
  })

  /** A value for each variable of the templates; a new one has to be added. */
  const valuesIn = (place: string): Readonly<Record<string, string>> => ({
    agent: 'NoBody',
    slug: place,
    project: place,
    id: '99999',
    thread_id: 'none',
    window_seconds: '60',
    sha1: '0'.repeat(40),
  })

  verifies('all.calls.nothing-made', 'none of them makes anything, whatever it names', async () => {
    const client = await connectClient(`${parley().url}/mcp`, '2025-11-25')
    const { resourceTemplates } = await client.listResourceTemplates()
    const uris = [
      ...(await client.listResources()).resources.map(({ uri }) => uri),
      ...resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ]
    expect(uris.length).toBeGreaterThan(20)
    const before = made()
    for (const place of [project, 'bakend', '/srv/never/read'])
      for (const uri of uris) {
        const values = valuesIn(place)
        const path = uri.replace(/\{\?.*\}$/, '').replace(/\{(\w+)\}/g, (_, name: string) => {
          expect(values).toHaveProperty(name)
          return encodeURIComponent(values[name] ?? '')
        })
        const asked = /\{\?.*\bproject\b.*\}$/.test(uri) ? `${path}?${inUrl(place)}` : path
        await client.readResource({ uri: asked }).catch(() => undefined)
        expect.soft(made(), asked).toEqual(before)
      }
  })
})
