/** The routes of the post door under requests that nobody would write, on both engines. */
import fc from 'fast-check'
import { expect, onTestFinished } from 'vitest'
import type { Hub } from '../../../src/core/hub/hub.ts'
import { openDb } from '../../../src/db/open.ts'
import { postRoutes } from '../../../src/doors/post/door.ts'
import { codePoints } from '../../support/code-points.ts'
import { ask, type Body, connected, eachPost, register } from '../../support/post.ts'
import { rowsOf } from '../../support/stored-rows.ts'
import { verifies } from '../../support/verifies.ts'

// Only what the rows say is looked at: nothing of them runs.
const routes = postRoutes({} as Hub)

/** Each is followed by a look at all rows, which takes longer on a server. */
const runs = { sqlite: 25, postgres: 6 }

/** Values that come near to what a field takes, and such as nobody expects. */
function valuesOf(schema: Body, known: readonly string[]): fc.Arbitrary<unknown> {
  const options: Body[] = schema.anyOf ?? [schema]
  const odd = fc.constantFrom<unknown>(
    null,
    '',
    0,
    -1,
    1.5,
    true,
    [],
    {},
    'x'.repeat(70_000),
    '\0',
    '\ud800',
    '../..',
    '%00',
    '__proto__',
    '💥',
    ' ',
    undefined,
  )
  const types = options.flatMap(({ type }) => type ?? [])
  const near = [
    ...(types.includes('string')
      ? [fc.constantFrom(...known), fc.string({ unit: codePoints, maxLength: 300 }), fc.uuid()]
      : []),
    ...(types.includes('boolean') ? [fc.boolean(), fc.constantFrom('true', 'maybe')] : []),
    ...(types.includes('integer') ? [fc.integer().map(String)] : []),
  ]
  return fc.oneof({ arbitrary: odd, weight: 1 }, ...near.map((arbitrary) => ({ arbitrary, weight: 2 })))
}

eachPost(
  'Requests that nobody would write',
  (parley, dialect, url) => {
    verifies(
      'post.fuzz.routes',
      'are answered as it is described, and a refusal leaves no trace',
      async () => {
        const [alice, bob] = await connected(parley())
        const carol = await register(parley(), 'carol')
        const sent = (await bob.send(alice, 'Known', 'hello')).body
        const code = (await carol.request(alice)).body.verification_code
        const known = [bob.name, carol.name, 'Known', sent.session_id, sent.message_id, code, 'nobody-at-all']
        const { paths } = (await ask(parley(), 'GET', '/openapi.json')).body
        // When an agent was last active is written behind the calls.
        const db = await openDb(url())
        onTestFinished(() => db.close())
        const stored = async () => {
          const rows = await rowsOf(db, ['followers', 'meta'])
          return { ...rows, agents: rows.agents?.map(({ active_at: _, ...row }) => row) }
        }
        let before = await stored()
        for (const route of routes) {
          const operation = paths[route.path][route.method.toLowerCase()]
          const place = (where: string) =>
            (operation.parameters ?? [])
              .filter((one: Body) => one.in === where)
              .map((one: Body) => [one.name, valuesOf(one.schema, known)])
          const body = operation.requestBody?.content['application/json'].schema.properties ?? {}
          const fields = Object.entries<Body>(body).map(([name, schema]) => [name, valuesOf(schema, known)])
          const request = fc.record({
            params: fc.record(Object.fromEntries(place('path'))),
            query: fc.record(Object.fromEntries(place('query')), { requiredKeys: [] }),
            body: fc.oneof(
              { arbitrary: fc.record(Object.fromEntries(fields), { requiredKeys: [] }), weight: 8 },
              { arbitrary: fc.jsonValue(), weight: 1 },
              { arbitrary: fc.string(), weight: 1 },
            ),
          })
          await fc.assert(
            fc.asyncProperty(request, async ({ params, query, body }) => {
              const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded((params as Body)[name]))
              const search = Object.entries(query)
                .map(([name, value]) => `${name}=${encoded(value)}`)
                .join('&')
              const answer = await ask(parley(), route.method, `${path}?${search}`, {
                headers: route.open ? {} : { 'X-API-Key': alice.key },
                ...(route.input.body && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
              })
              // An odd path may be another's: then it is nobody's.
              if (answer.body?.error?.code === 'NOT_FOUND') return
              expect(Object.keys(operation.responses)).toContain(String(answer.status))
              expect(answer.status).toBeLessThan(500)
              if (answer.status >= 400) {
                expect(Object.keys(answer.body)).toEqual(['detail', 'code'])
                expect(await stored()).toEqual(before)
              } else {
                expect(route.output.strict().safeParse(answer.body).error).toBeUndefined()
                before = await stored()
              }
            }),
            { numRuns: runs[dialect], seed: 8765 },
          )
        }
      },
      60_000,
    )
  },
  { HTTP_WRONG_KEYS_PER_MINUTE: '0' },
)

const encoded = (value: unknown): string =>
  encodeURIComponent((typeof value === 'string' ? value : String(value)).slice(0, 1000).toWellFormed())
