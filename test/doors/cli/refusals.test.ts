/** Refusals of `parley topics`, and characters that it keeps from terminals. */
import { expect } from 'vitest'
import { parleyCommand, parleyProcess, printedBy, topicsBeside } from '../../support/cli.ts'
import { shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()
const { topics, json, fails, watch, topicOf } = topicsBeside(parley)

verifies('cli.topics.errors', 'what cannot be sent is refused with a hint', async () => {
  const { id, bob } = await topicOf('strict')
  const refused = async (code: number, says: RegExp, args: string[], input: string | Uint8Array = '') =>
    expect(await parleyCommand(parley(), ['topics', 'send', id, ...args], { input })).toMatchObject({
      code,
      stdout: '',
      stderr: expect.stringMatching(says),
    })
  await refused(2, /^error: The message must have 1 to 65536 characters; it has 0\n/, [])
  await refused(2, /65536 characters/, [], 'x'.repeat(65_537))
  await refused(2, /^error: The message is not UTF-8\.\nNothing was sent\.\n$/, [], new Uint8Array([0x61, 0xff]))
  await refused(2, /--as\) must have 1 to 64/, ['--as', ' ', 'x'])
  await refused(2, /--type\) must have 1 to 32/, ['--type', 'x'.repeat(33), 'x'])
  await refused(1, /^There is no message #7 in "strict"\.\nNothing was sent\./, ['--reply-to', '7', 'x'])
  await refused(1, /^This topic has no message "nope" to reply to\.\nNothing was sent\./, ['--reply-to', 'nope', 'x'])
  await bob.call('topic_close', { topic_id: id })
  await refused(1, /^The topic "strict" is closed[^\n]*\nNothing was sent\. `parley topics show`[^\n]*\n$/, ['x'])
  expect(await json('show', id)).toMatchObject({ messages: [] })
})

verifies('cli.topics.harmless', 'what agents write reaches no terminal as it is', async () => {
  const evil = 'a\x1b[2J\x1b]0;t\x07b\u009b31m\r\x08\u202e\u0000'.replace('\u0000', '')
  const { id, bob } = await topicOf('evil \u202eeman', evil)
  await bob.sync(id, { outbox: [{ content_markdown: 'x', message_type: 't\x1b[0m', metadata: { evil } }] })
  await bob.call('topic_close', { topic_id: id, reason: evil })
  const watching = watch(id)
  await watching.printed(/Watching/)
  watching.child.kill('SIGTERM')
  expect(await watching.gone).toBe(0)
  const outputs = [
    watching.output.stdout + watching.output.stderr,
    (await fails('send', id, 'x')).stderr,
    ...(await Promise.all(
      [
        ['list', '--status', 'all'],
        ['list', '--status', 'all', '--json'],
        ['show', id],
        ['show', id, '--json'],
        ['export', id],
        ['export', id, '--format', 'jsonl'],
      ].map((args) => topics(...args)),
    )),
  ]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  for (const text of outputs) expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/)
  expect(outputs[0]).toContain('a␛[2J␛]0;t␇b\\u009b31m␍␈\\u202e')
  expect(await json('show', id)).toMatchObject({ messages: [{ content_markdown: evil }, { metadata: { evil } }] })
})

verifies('cli.topics.errors', 'wrong usage is exit code 2, other errors 1, help 0, and no trace is shown', async () => {
  const { id } = await topicOf('errors')
  const usage: [string[], RegExp][] = [
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['show'], /missing required argument 'topic'/],
    [['show', id, '--limit', 'few'], /whole number, 1 or more/],
    [['show', id, '--colour'], /unknown option '--colour'/],
    [['list', '--status', 'shut'], /Allowed choices are open, closed, all/],
    [['watch', id, '--from', 'then'], /the number of a message, or "now"/],
    [[], /Usage: parley topics/],
  ]
  const outcome = (code: number, says: RegExp) => ({ code, stdout: '', stderr: expect.stringMatching(says) })
  await Promise.all(usage.map(async ([args, says]) => expect(await fails(...args)).toMatchObject(outcome(2, says))))
  const others: [string[], RegExp][] = [
    [['show', 'nope'], /^There is no topic "nope"\.\n`parley topics list --status all` lists [^\n]*\n$/],
    [['watch', 'nope'], /^There is no topic "nope"\.\n/],
    [
      ['list', '--project', 'nope'],
      /^There is no project "nope"\.\nThe nearest: .*`parley list-projects` lists all projects\.\n$/,
    ],
  ]
  await Promise.all(others.map(async ([args, says]) => expect(await fails(...args)).toMatchObject(outcome(1, says))))
  expect(await topics('send', '--help')).toMatch(/Usage: parley topics send [\s\S]*Examples:\n {2}parley topics send /)
  expect(await printedBy(parley(), ['--help'])).toMatch(/^ {2}topics .*follow topics live/m)
})

verifies('cli.topics.errors', 'a process of its own says the same, and ends with the same code', async () => {
  const { id } = await topicOf('process', 'one')
  const cases: [number, string[]][] = [
    [0, ['topics', 'show', id]],
    [0, ['topics', 'send', '--help']],
    [1, ['topics', 'show', 'nope']],
    [2, ['topics', 'show', id, '--limit', 'few']],
    [2, ['topics', 'delete', id]],
    [2, ['frobnicate']],
  ]
  await Promise.all(
    cases.map(async ([code, args]) => {
      const outcome = await parleyProcess(parley(), args)
      expect(outcome).toMatchObject({ code })
      expect(outcome).toEqual(await parleyCommand(parley(), args))
    }),
  )
  const text = 'Grüße\n'
  const sent = await parleyProcess(parley(), ['topics', 'send', id, '--as', 'ann'], { input: text })
  expect(sent).toEqual({ code: 0, stdout: 'Sent #2 to "process" as ann.\n', stderr: '' })
  expect(await json('show', id)).toMatchObject({ messages: [{ seq: 1 }, { content_markdown: 'Grüße' }] })
})
