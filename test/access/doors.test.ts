/** The matrix through the doors: every tool, resource and route, by every caller with the credentials it really has. */
import { beforeAll, expect } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { type Code, codes, kinds } from '../../src/base/errors.ts'
import { peopleRoutes } from '../../src/doors/people/routes.ts'
import { signShared } from '../support/authority.ts'
import { eachEngine, type TestDatabase } from '../support/engines.ts'
import { repositoryAt } from '../support/guard.ts'
import { openTestHub, standInRemoteTools } from '../support/hub.ts'
import { type Served, serveHere, temporaryFolder } from '../support/parley.ts'
import { verifies } from '../support/verifies.ts'
import type { Request } from './calling.ts'
import { doorCalls } from './door-calls.ts'
import { type Case, cases } from './matrix.ts'
import { createWorld, type Target } from './world.ts'

const secret = 'a secret of more than thirty-two bytes'
const bearerToken = 'the-token-of-the-operator'
const env = {
  HTTP_BEARER_TOKEN: bearerToken,
  HTTP_JWT_ENABLED: 'true',
  HTTP_JWT_SECRET: secret,
  HTTP_RBAC_AUDITOR_ROLES: 'auditor',
}

/** The claims of the tokens that stand for each case; undefined is nobody in particular. */
const claims: Readonly<Record<Exclude<Case, 'operator'>, object | undefined>> = {
  localKeyless: undefined,
  localKeyed: undefined,
  itself: { agent: 'RedStone@/srv/home', role: 'writer' },
  another: { agent: 'SilverPine@/srv/home', role: 'writer' },
  elsewhere: { agent: 'SilverPine@/srv/home', role: 'writer' },
  itselfReading: { agent: 'RedStone@/srv/home', role: 'reader' },
  writerKeyless: { sub: 'w', role: 'writer' },
  writerKeyed: { sub: 'w', role: 'writer' },
  readerKeyless: { sub: 'r', role: 'reader' },
  readerKeyed: { sub: 'r', role: 'reader' },
  auditor: { sub: 'a', role: ['auditor', 'writer'] },
}

async function credentials(of: Case): Promise<Record<string, string>> {
  if (of === 'operator') return { authorization: `Bearer ${bearerToken}` }
  const said = claims[of]
  return said === undefined ? {} : { authorization: `Bearer ${await signShared(secret, { ...said })}` }
}

/** Calls that tell nothing of anybody, and registering, which needs no agent yet. */
const openToAll = /^resource:\/\/(config|tooling)\/|^\/health|^\/agents\/register$/

/** Pages tell people, and have no code but the status. */
const statusOf = (outcome: 'yes' | Code): number => (outcome === 'yes' ? 200 : kinds[codes[outcome]].status)

/** The outcome of a request: `yes`, or the code of its error, wherever its door writes that. */
async function outcomeOf({ url }: Served, { path, rpc, method, body }: Request, headers: Record<string, string>) {
  const sent = rpc === undefined ? body : { jsonrpc: '2.0', id: 1, ...rpc }
  const response = await fetch(`${url}${path}`, {
    method: method ?? 'POST',
    headers: { ...headers, ...(sent !== undefined && { 'content-type': 'application/json' }) },
    ...(sent !== undefined && { body: JSON.stringify(sent) }),
  })
  if (response.headers.get('content-type')?.startsWith('text/html')) return response.status
  const { error, result, code } = (await response.json()) as {
    error?: { code?: unknown; data?: { code?: string } }
    result?: { structuredContent?: { error?: { code: string }; threads?: { error?: { code: string } }[] } }
    code?: string
  }
  const inside = result?.structuredContent
  return error?.data?.code ?? error?.code ?? inside?.error?.code ?? inside?.threads?.[0]?.error?.code ?? code ?? 'yes'
}

verifies('access.verbs.doors', 'nothing that a door offers is left out', async () => {
  const parley = await serveHere()
  const named = (calls: readonly { name: string }[]) => calls.map(({ name }) => name)
  const list = async (path: string, method: string) => {
    const response = await fetch(`${parley.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
    })
    const { result } = (await response.json()) as { result: Record<string, { name: string; uriTemplate: string }[]> }
    return result
  }
  const paths = { mail: '/mcp', bus: '/bus/mcp', hub: '/hub/mcp', mailbox: '/agents/alice/mcp' } as const
  for (const [door, path] of Object.entries(paths) as [keyof typeof paths, string][]) {
    const { tools = [] } = await list(path, 'tools/list')
    const { resourceTemplates = [] } = await list(path, 'resources/templates/list')
    const offered = [...named(tools), ...resourceTemplates.map(({ uriTemplate }) => uriTemplate.replace(/\{\?.*/, ''))]
    const tried = named(doorCalls[door])
    const isTried = (name: string) => tried.some((one) => one === name || name.startsWith(`${one}/`))
    expect(offered.filter((name) => !isTried(name) && !openToAll.test(name))).toEqual([])
  }
  const { paths: routes } = (await (await fetch(`${parley.url}/openapi.json`)).json()) as { paths: object }
  const tried = new Set(named(doorCalls.post).map((name) => name.replace(/^\w+ /, '')))
  expect(Object.keys(routes).filter((path) => !tried.has(path) && !openToAll.test(path))).toEqual([])
  const asked = named(doorCalls.people)
  expect(peopleRoutes.filter(({ method, path }) => !asked.includes(`${method} ${path}`))).toEqual([])
})

/** Rights are the same on both engines, as access.test.ts shows; this file is about the doors. */
const onPostgres: readonly Case[] = ['another']

eachEngine('Through the doors', (open, dialect) => {
  let world: TestDatabase
  let targetOf: (of: Case) => Target
  beforeAll(async () => {
    world = await open({ lasting: true })
    const hub = await openTestHub(await world.connect(), { remoteTools: standInRemoteTools, clock: systemClock })
    targetOf = await createWorld(hub)
    await hub.close()
  })

  for (const of of dialect === 'postgres' ? onPostgres : (Object.keys(cases) as Case[]))
    verifies(
      'access.verbs.doors',
      `${cases[of]}: each tool, resource and route does what its verb may`,
      async () => {
        const database = await open({ like: world })
        const target = { ...targetOf(of), repository: await temporaryFolder() }
        await repositoryAt(target.repository)
        const parley = await serveHere({ env: { ...env, DATABASE_URL: database.url } })
        const headers = await credentials(of)
        const found: Record<string, unknown> = {}
        const expected: Record<string, unknown> = {}
        for (const [door, calls] of Object.entries(doorCalls))
          for (const [index, call] of calls.entries()) {
            const name = `${door} ${index} ${call.name}`
            expected[name] = door === 'pages' ? statusOf(call.row[of]) : call.row[of]
            found[name] = await outcomeOf(parley, call.request(target), headers)
          }
        await parley.stop()
        expect(found).toEqual(expected)
      },
      60_000,
    )
})
