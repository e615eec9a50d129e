/** Summaries without a language model, on mail as coding agents write it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codePoints } from '../../test/support/code-points.ts'
import { verifies } from '../../test/support/verifies.ts'
import { itemLength, readMarkdown } from './lines.ts'
import { startSummary, summaryLimits, type Told } from './summary.ts'

const start = Date.UTC(2026, 0, 1)

function summaryOf(messages: readonly (Partial<Told> & { from: string; body: string })[]) {
  const collected = startSummary()
  for (const [n, message] of messages.entries())
    collected.add({ id: n + 1, to: [], subject: 'Plan', createdAt: start + n * 1000, ...message })
  return collected.finish()
}

const plan = `Hi all,

# Plan for /api/users

The users endpoint times out under load. We have decided to page by cursor
instead of offset. Could somebody check whether \`listUsers()\` is called from
the mobile app?

## Next steps

- write the migration in src/db/migrations/0007-users.sql
- [ ] add a test to test/users.test.ts:42
- [x] read the logs

\`\`\`ts
// TODO: this stands in code and is nobody's task?
const page = await listUsers({ after })
\`\`\`

I will open the pull request tomorrow. It will need two reviews. This will break old clients.
`

const answer = `> Could somebody check whether \`listUsers()\` is called from the mobile app?

Yes: the mobile app called listUsers() somebody told me, see [the client](https://example.org/client). Thanks!

TODO(BlueLake): tell the mobile team
Decision: keep the old route until March.

Who owns the **dashboards**?`

verifies(
  'mail.summary.extractive',
  'A thread is told by its participants, points, questions, actions, decisions and code',
  () => {
    const summary = summaryOf([
      { from: 'GreenCastle', to: ['BlueLake', 'RedStone'], subject: 'Plan for **users**', body: plan },
      { from: 'BlueLake', to: ['GreenCastle'], subject: 'Re: Plan', body: answer },
      { from: 'BlueLake', body: '- [x] add a test to test/users.test.ts:42' },
    ])
    expect(summary).toEqual({
      subject: 'Plan for users',
      participants: [
        { name: 'BlueLake', messages: 2 },
        { name: 'GreenCastle', messages: 1 },
        { name: 'RedStone', messages: 0 },
      ],
      totalMessages: 3,
      messagesRead: 3,
      keyPoints: [
        'GreenCastle: The users endpoint times out under load.',
        'GreenCastle: It will need two reviews.',
        'BlueLake: Yes: the mobile app called listUsers() somebody told me, see the client.',
      ],
      openQuestions: ['BlueLake: Who owns the dashboards?'],
      actionItems: [
        'GreenCastle: write the migration in src/db/migrations/0007-users.sql',
        'GreenCastle: I will open the pull request tomorrow.',
        'BlueLake: tell the mobile team',
      ],
      decisions: [
        'GreenCastle: We have decided to page by cursor instead of offset.',
        'BlueLake: keep the old route until March.',
      ],
      codeReferences: ['test/users.test.ts:42', 'listUsers()', 'src/db/migrations/0007-users.sql'],
      lastAt: start + 2000,
    })
  },
)

test('A question is open until somebody else answers its message or takes up its words', () => {
  const asked = { from: 'alice', body: 'Which database should the staging cluster use?' }
  const open = ['alice: Which database should the staging cluster use?']
  expect(summaryOf([asked]).openQuestions).toEqual(open)
  expect(summaryOf([asked, { from: 'bob', body: 'I am back on Monday.' }]).openQuestions).toEqual(open)
  expect(summaryOf([asked, { from: 'alice', body: 'The staging cluster needs a database.' }]).openQuestions).toEqual(
    open,
  )
  expect(summaryOf([asked, { from: 'bob', body: 'PostgreSQL.', replyTo: 1 }]).openQuestions).toEqual([])
  expect(
    summaryOf([asked, { from: 'bob', body: 'The staging cluster should use the same database.' }]).openQuestions,
  ).toEqual([])
})

test('Somebody’s promise is an action, what will happen is not', () => {
  const { actions, points } = readMarkdown(
    [
      'I will write it.',
      'We’ll deploy on Friday.',
      'BlueLake will review the change.',
      'It will rain all day.',
      'The build will fail then.',
      'That will do for now.',
    ].join('\n\n'),
  )
  expect(actions).toEqual(['I will write it.', 'We’ll deploy on Friday.', 'BlueLake will review the change.'])
  expect(points).toHaveLength(3)
})

verifies('mail.summary.lines', 'A line is a statement, unless an editor has wrapped it', () => {
  const body = [
    'TODO: fix the retry',
    'Decision: keep SQLite',
    'who owns the deploy?',
    'I will write the docs',
    'Decided to ship on Friday',
  ].join('\n')
  expect(readMarkdown(body)).toMatchObject({
    actions: ['fix the retry', 'I will write the docs'],
    decisions: ['keep SQLite', 'Decided to ship on Friday'],
    questions: ['who owns the deploy?'],
    points: [],
  })
  const wrapped = `The users endpoint times out under load, which we have known since\nMarch, and nobody has looked at the logs of the second database so\nfar.\nDecision:\nlook tomorrow`
  expect(readMarkdown(wrapped)).toMatchObject({
    points: [
      'The users endpoint times out under load, which we have known since March, and nobody has looked at the logs of the second database so far.',
    ],
    decisions: ['look tomorrow'],
  })
})

verifies('mail.summary.files', 'Neither the content of an image nor its place in the archive is in a summary', () => {
  const path = `attachments/ab/${'ab'.repeat(20)}.webp`
  const uri = `data:image/webp;base64,${'QUJD'.repeat(9000)}`
  const body = `Look at ![the flow](${uri}) before you answer.\n\nThe photo ![shot](${path}) shows the second crash.\n\nThe file is at ${path} for everybody.\n\nTODO: redraw ![it](<${uri}> "big") soon`
  const summary = summaryOf([{ from: 'alice', body }])
  expect(summary).toMatchObject({
    keyPoints: ['alice: Look at the flow before you answer.', 'alice: The photo shot shows the second crash.'],
    actionItems: ['alice: redraw it soon'],
    codeReferences: [],
  })
  expect(JSON.stringify(summary)).not.toMatch(/base64|QUJD|attachments\//)
  // Cut off in the middle, as a long message is.
  expect(JSON.stringify(readMarkdown(`Look at ![the flow](${uri.slice(0, 19_000)}`))).not.toContain('QUJD')
})

test('Sections tell what their bullets are', () => {
  const body =
    '## Decisions\n- use cursors\n1. drop offsets\n\n## Open questions\n* the name of the flag\n\n## Notes\n- the rest is as before'
  expect(readMarkdown(body)).toMatchObject({
    decisions: ['use cursors', 'drop offsets'],
    questions: ['the name of the flag'],
    points: ['the rest is as before'],
  })
})

test('What is said again is one item, at its last place', () => {
  const { actionItems } = summaryOf([
    { from: 'alice', body: 'TODO: write docs\n\nTODO: tag the release' },
    { from: 'bob', body: '- [ ] Write docs' },
  ])
  expect(actionItems).toEqual(['alice: tag the release', 'bob: Write docs'])
})

verifies('mail.summary.bounded', 'A summary stays short however long the thread is', () => {
  const long = 'and so on '.repeat(60)
  const messages = Array.from({ length: 600 }, (_, n) => ({
    from: `agent-${n % 60}`,
    to: [`other-${n}`],
    subject: long,
    body: `Point ${n} is ${long}.\n\nIs number${n} ready${n} ${long}?\n\n- [ ] task ${n} ${long}\n\nDecision: number ${n} ${long}\n\n\`code${n}\``,
  }))
  const summary = summaryOf(messages)
  expect(summary.totalMessages).toBe(600)
  expect(summary.participants).toHaveLength(summaryLimits.participants)
  for (const list of [summary.keyPoints, summary.openQuestions, summary.actionItems, summary.decisions])
    expect(list).toHaveLength(summaryLimits.items)
  expect(summary.keyPoints[0]).toMatch(/^agent-0: Point 0 /)
  expect(summary.keyPoints.at(-1)).toMatch(/^agent-59: Point 599 /)
  expect(summary.actionItems.at(-1)).toMatch(/^agent-59: task 599 /)
  expect(JSON.stringify(summary).length).toBeLessThan(12_000)
})

test('Any text can be read, and no item is longer than allowed', () => {
  const piece = fc.oneof(
    fc.string({ unit: codePoints }),
    fc.constantFrom(
      '```',
      '\n',
      '- [ ] ',
      '> ',
      '# ',
      'TODO: ',
      '?',
      'I will ',
      'Decision:',
      '`',
      '[x](',
      ')',
      'a/b.ts',
    ),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const { code: _, ...lists } = readMarkdown(pieces.join(''))
      for (const item of Object.values(lists).flat()) {
        expect(item.length).toBeLessThanOrEqual(itemLength)
        expect(item).not.toMatch(/[\n\r\u202e]/)
      }
    }),
  )
})

verifies('mail.summary.bounded', 'Of a long sentence only its beginning is looked at, and how it ends', () => {
  const long = 'word '.repeat(120)
  expect(readMarkdown(`Now ${long} Bob will do it.`)).toMatchObject({ actions: [], points: [expect.any(String)] })
  expect(readMarkdown(`- [ ] ${long} [Bob](http://bob) **will**`).actions[0]).toMatch(/^word .*…$/)
  expect(readMarkdown(`Now ${long} is it **done?**`)).toMatchObject({ questions: [expect.any(String)], points: [] })
  expect(readMarkdown('Now Bob will do it.').actions).toHaveLength(1)
})

test('A name is looked for where a word begins, in any script', () => {
  for (const text of ['So éBob will do it.', 'So 界Bob will do it.', 'So it-Bob will do it.'])
    expect(readMarkdown(text).actions, text).toEqual([])
  for (const text of ['So @Bob will do it.', 'So Émile will do it.', 'So (Bob will do it).', 'So Bob-2 will do it.'])
    expect(readMarkdown(text).actions, text).toHaveLength(1)
})

test('A line ends at any break', () => {
  for (const end of ['\n', '\r\n', '\r', '\u2028', '\u2029'])
    expect(readMarkdown(`- [ ] one task${end}- [x] another`), JSON.stringify(end)).toMatchObject({
      actions: ['one task'],
      done: ['another'],
    })
})
