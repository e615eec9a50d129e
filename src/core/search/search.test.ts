/** Search, on both engines: what a query finds, in which order, and what it must never find. */
import fc from 'fast-check'
import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { connectHub, inTopics, searchHits as search, writeMessages } from '../../../test/support/search.ts'
import { marked } from '../../fulltext/excerpt.ts'
import { fitsAt, parseQuery, type Query } from '../../fulltext/query.ts'
import { wordsOf } from '../../fulltext/words.ts'
import { type Hub, inside } from '../hub/hub.ts'

/** Name → text; the name is found again as the sequence of the message. */
const documents = {
  plan: 'The build plan for users: migrate first, then deploy.',
  auth: 'auth-service answers 401 since the deploy',
  path: 'See src/api/users.ts, line 12, and user_id in v1.2.3',
  legacy: 'The plan of legacy users, not the build',
  unicode: 'Café naïve ΟΔΟΣ ПРИВЕТ straße ﬁn ① 全文検索機能 ทดสอบ हिन्दी 🚀',
  code: 'const parseQuery = (text) => new Parser(lex(text))',
  quotes: `it's "quoted" \\ and 'odd' & | ! <-> :* {x} ^ ~`,
} as const

const found: [string, (keyof typeof documents)[]][] = [
  ['plan', ['legacy', 'plan']],
  ['PLAN', ['legacy', 'plan']],
  ['plan users', ['legacy', 'plan']],
  ['plan deploy', ['plan']],
  ['"build plan"', ['plan']],
  ['"plan build"', []],
  ['"users migrate"', ['plan']],
  ['migr*', ['plan']],
  ['mi*', ['plan']],
  ['m*', []],
  ['plan AND users NOT legacy', ['plan']],
  ['auth OR migrate', ['auth', 'plan']],
  ['(auth OR migrate) plan', ['plan']],
  ['deploy NOT plan', ['auth']],
  ['NOT plan', []],
  ['plan NOT (deploy NOT auth)', ['legacy']],
  ['deploy (401 OR NOT plan)', ['auth']],
  ['auth-service', ['auth']],
  ['auth service', ['auth']],
  ['service-auth', []],
  ['AUTH_SERVICE', ['auth']],
  ['src/api/users.ts', ['path']],
  ['api/users', ['path']],
  ['users/api', []],
  ['users.ts', ['path']],
  ['user_id', ['path']],
  ['v1.2.3', ['path']],
  ['2.3', ['path']],
  ['1.3', []],
  ['v1.2*', ['path']],
  ['line 12', ['path']],
  ['cafe', ['unicode']],
  ['CAFÉ', ['unicode']],
  ['naïve', ['unicode']],
  ['οδος', ['unicode']],
  ['привет', ['unicode']],
  ['STRASSE', []],
  ['straße', ['unicode']],
  ['fin', ['unicode']],
  ['検索', ['unicode']],
  ['索検', []],
  ['ทดสอบ', ['unicode']],
  ['हिन्दी', ['unicode']],
  ['🚀', ['unicode']],
  ['😀', []],
  ['parseQuery(text)', ['code']],
  ['new Parser(lex', ['code']],
  [`it's`, ['quotes']],
  ['"quoted', ['quotes']],
  [`'odd'`, ['quotes']],
  ['\\ & | ! <-> :* {x}', ['quotes']],
  ['body:plan', ['legacy', 'plan']],
  ['subject:plan', []],
  ['subject:release', ['plan', 'auth', 'path', 'legacy', 'unicode', 'code', 'quotes']],
  ['release legacy', ['legacy']],
  ['subject:"release notes" legacy', ['legacy']],
  ['subject:"notes release" legacy', []],
  ['"notes the"', []],
  ['from:alice plan', ['legacy', 'plan']],
  ['from:ALICE from:bob', []],
  ['from:"green castle" deploy', ['auth']],
  ['from:green-castle', ['auth', 'unicode']],
  ['from:gre* deploy', ['auth']],
  ['thread:"Release notes" legacy', ['legacy']],
  ['thread:"uid-commons-Release notes" legacy', ['legacy']],
  ['thread:elsewhere legacy', []],
  ['alice', []],
  ['uid', []],
  ['topics1', []],
  ['scope:topics1', []],
  ['', []],
  ['"', []],
  ['AND', ['path', 'quotes']],
]

/** Any code points, halves of pairs too. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 20 })
  .map((codes) => String.fromCodePoint(...codes))

/** Whether a query ought to find a message, the slow way. */
function fits(query: Query, message: Record<'subject' | 'body' | 'from' | 'thread', string>): boolean {
  if (query.kind === 'or') return query.any.some((one) => fits(one, message))
  if (query.kind === 'and')
    return query.all.every((one) => fits(one, message)) && !query.but.some((one) => fits(one, message))
  const fields = query.field === undefined ? (['subject', 'body'] as const) : [query.field]
  return fields.some((field) => {
    const words = wordsOf(message[field])
    return words.some((_, at) => fitsAt(words, at, query))
  })
}

eachEngine('Search', (open) => {
  const start = async () => connectHub(await open())

  const bodies = async (hub: Hub, query: string, limit?: number) =>
    (await search(hub, await inTopics(hub), { query, limit })).map(({ snippet }) => snippet.text)

  test('finds what the query says', async () => {
    const hub = await start()
    const senders = ['alice', 'green-castle', 'bob']
    const names = Object.keys(documents) as (keyof typeof documents)[]
    await writeMessages(
      hub,
      names.map((name, n) => ({ topic: 'Release notes', from: senders[n % 3], body: documents[name] })),
    )
    const results: [string, string[]][] = []
    for (const [query] of found) {
      const hits = await search(hub, await inTopics(hub), { query })
      results.push([query, hits.map(({ seq }) => names[seq - 1] ?? '?').sort()])
    }
    expect(results).toEqual(found.map(([query, expected]) => [query, [...expected].sort()]))
  })

  test('finds what the query says, made up at random, in texts made up at random', async () => {
    const hub = await start()
    const word = fc.constantFrom('a', 'ab', 'abc', 'b', 'é', '検', '索', '🚀', 'x1', 'AND')
    const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
    const messages = fc.sample(fc.record({ body: text, topic: text, from: word }), { numRuns: 60, seed: 7 })
    const ids = await writeMessages(hub, messages)
    const scope = await inTopics(hub)
    const term = fc
      .tuple(fc.constantFrom('', '', '', 'subject:', 'body:', 'from:', 'thread:'), word, fc.constantFrom('', '', '*'))
      .map((parts) => parts.join(''))
    const query = fc
      .array(
        fc.oneof(
          { weight: 3, arbitrary: term },
          text.map((t) => `"${t}"`),
          fc.constantFrom('OR', 'NOT', '(', ')'),
        ),
      )
      .map((parts) => parts.join(' '))
    await fc.assert(
      fc.asyncProperty(query, async (query) => {
        const parsed = parseQuery(query)
        const expected = messages.flatMap(({ body, topic, from }, n) => {
          const message = { subject: topic, body, from, thread: `uid-commons-${topic} ${topic}` }
          return parsed !== undefined && fits(parsed, message) ? [ids[n]] : []
        })
        const hits = await search(hub, scope, { query, limit: 100 })
        expect(hits.map(({ id }) => id).sort((a, b) => a - b)).toEqual(expected)
      }),
      { numRuns: 150 },
    )
  })

  test('takes any text for a query', async () => {
    const hub = await start()
    await writeMessages(
      hub,
      Object.values(documents).map((body) => ({ body })),
    )
    const scope = await inTopics(hub)
    const piece = fc.oneof(
      fc.constantFrom(
        'plan',
        'NOT',
        'AND',
        'OR',
        '(',
        ')',
        '"',
        '*',
        ':',
        'body:',
        ' ',
        '-',
        '\0',
        '\\',
        "'",
        '&',
        '!',
      ),
      anyText,
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 20 }), async (pieces) => {
        const query = pieces.join('')
        const hits = await search(hub, scope, { query })
        expect(hits.length).toBeLessThanOrEqual(20)
      }),
      { numRuns: 150 },
    )
    for (const query of ['('.repeat(10_000), 'plan '.repeat(2000), 'x'.repeat(10_000), `"${'plan '.repeat(2000)}"`])
      await search(hub, scope, { query })
  })

  test('puts the best first, and the newest first among equals', async () => {
    const hub = await start()
    await writeMessages(hub, [
      { body: 'deploy once, and then say a good deal about other things that matter less here' },
      { body: 'deploy one' },
      { body: 'deploy, deploy, deploy' },
      { body: 'deploy two' },
      { body: 'release one' },
      { body: 'release two' },
      { body: 'release three' },
      { body: 'rollback now' },
    ])
    expect(await bodies(hub, 'deploy')).toEqual([
      'deploy, deploy, deploy',
      'deploy two',
      'deploy one',
      'deploy once, and then say a good deal about other things that matter less here',
    ])
    expect((await bodies(hub, 'release OR rollback'))[0]).toBe('rollback now')
    expect(await bodies(hub, 'from:alice', 2)).toEqual(['rollback now', 'release three'])
  })

  test('tells where a hit is from and shows the piece around it', async () => {
    const hub = await start()
    const [, id] = await writeMessages(hub, [
      { body: 'first', topic: 'Plans' },
      {
        body: `${'before '.repeat(100)}the **needle**\n<b>here</b>${' after'.repeat(100)}`,
        topic: 'Plans',
        from: 'Bob',
      },
    ])
    const [hit] = await search(hub, await inTopics(hub), { query: 'needle' })
    expect(hit).toMatchObject({ id, threadUid: 'uid-commons-Plans', threadName: 'Plans', seq: 2, sender: 'Bob' })
    expect(hit).toMatchObject({ kind: 'message', createdAt: hub.clock.now(), score: expect.any(Number) })
    const [row] = await hub[inside].db.all<{ uid: string }>(sql`SELECT uid FROM messages WHERE id = ${id}`)
    expect(hit?.uid).toBe(row?.uid)
    expect(hit && marked(hit.snippet, (match) => `[${match}]`)).toMatch(
      /^…before .* the \*\*\[needle\]\*\* <b>here<\/b> after .* after…$/,
    )
  })

  test('keeps to its limits', async () => {
    const hub = await start()
    await writeMessages(
      hub,
      Array.from({ length: 30 }, (_, n) => ({ body: `note ${n}` })),
    )
    expect(await bodies(hub, 'note')).toHaveLength(20)
    expect(await bodies(hub, 'note', 1)).toEqual(['note 29'])
    expect(await bodies(hub, 'note', 100)).toHaveLength(30)
    for (const limit of [0, 101, 1.5, Number.NaN])
      await expect(bodies(hub, 'note', limit)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  })

  test('reads the first 65,536 characters of a message', async () => {
    const hub = await start()
    await writeMessages(hub, [{ body: `${'x '.repeat(32_760)}early${' y'.repeat(400_000)} late` }])
    expect(await bodies(hub, 'early')).toHaveLength(1)
    expect((await bodies(hub, 'early'))[0]).toContain(' early')
    expect(await bodies(hub, 'late')).toEqual([])
  })

  test('copes with the most words a message can have', async () => {
    const hub = await start()
    const bodies = [
      Array.from({ length: 65_536 }, (_, n) => String.fromCodePoint(0x4e00 + (n % 20_000))).join(''),
      Array.from({ length: 32_768 }, (_, n) => String.fromCodePoint(0x20000 + n)).join(''),
      Array.from({ length: 20_000 }, (_, n) => n.toString(36)).join(' '),
      'y'.repeat(1_000_000),
      '\ufdfa'.repeat(20_000),
    ]
    await writeMessages(hub, [...bodies.map((body) => ({ body })), { body: 'the end' }])
    expect(await search(hub, await inTopics(hub), { query: 'end' })).toHaveLength(1)
    expect(await search(hub, await inTopics(hub), { query: 'y'.repeat(900_000) })).toHaveLength(1)
  })
})
