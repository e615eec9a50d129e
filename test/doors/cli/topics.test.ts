/** `parley topics …` as people and scripts run it, beside a server whose peers talk on the bus. */
import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { printedBy, topicsBeside } from '../../support/cli.ts'
import { shareServer, waitingCalls } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()
const { topics, json, fails, watch, peer, topicOf } = topicsBeside(parley)

verifies(
  ['cli.topics.list', 'cli.topics.json'],
  'list shows the topics of a project with what is in them',
  async () => {
    const project = '&project=/srv/listing'
    const [ann, bob] = [peer('ann', project), peer('bob', project)]
    const first = await ann.join('ann', 'first')
    await bob.join('bob', 'first')
    await ann.send(first, 'one', 'two')
    const second = await ann.join('ann', 'second')
    await ann.call('topic_close', { topic_id: second })

    const lines = (await topics('list', '--project', 'listing')).split('\n')
    expect(lines[0]).toBe('name\tid\tstatus\tmessages\tpeers\tlast activity')
    expect(lines[1]).toMatch(new RegExp(`^first\t${first}\topen\t2\t2\t\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$`))
    expect(lines.slice(2)).toEqual([''])
    expect(await json('list', '--status', 'all', '--project', 'listing')).toMatchObject({
      project: 'listing',
      topics: [
        { topic_id: second, name: 'second', status: 'closed', messages: 0, peers: 1 },
        { topic_id: first, name: 'first', status: 'open', messages: 2, peers: 2, last_activity: expect.any(String) },
      ],
      count: 2,
    })
    expect(await topics('list', '--status', 'closed', '--project', 'listing')).toContain('second')
  },
)

verifies(
  ['cli.topics.show', 'cli.topics.named', 'cli.topics.json'],
  'show prints the newest messages, by id or name of the topic',
  async () => {
    const { id, said, bob } = await topicOf('Showing', 'one', 'two\n\n- three')
    await bob.sync(id, {
      outbox: [{ content_markdown: 'four', message_type: 'answer', reply_to: said[0]?.message_id }],
    })
    const text = await topics('show', 'showing')
    expect(text).toMatch(
      /^Showing · \w{16} · open · 3 messages · 1 peer · 2\S+Z\n\n#1 bob · message · 2\S+Z\n {4}one\n\n#2 bob/,
    )
    expect(text).toMatch(
      /#2 bob · message · \S+\n {4}two\n\n {4}- three\n\n#3 bob · answer · \S+ · reply to #1\n {4}four\n\n$/,
    )
    const limited = await fails('show', id, '--limit', '1', '--before', '3')
    expect(limited).toMatchObject({ code: 0, stderr: '1 earlier message: --before 2\n\n' })
    expect(limited.stdout.match(/^#\d/gm)).toEqual(['#2'])
    expect(await json('show', id, '--limit', '2')).toMatchObject({
      topic: { topic_id: id, name: 'Showing', messages: 3 },
      has_more: true,
      messages: [{ seq: 2 }, { seq: 3, message_type: 'answer', reply_to: said[0]?.message_id, reply_to_seq: 1 }],
    })
  },
)

verifies(
  ['cli.topics.watch', 'cli.topics.json'],
  'watch prints what is there from a place on, then what others write and do, until Ctrl-C',
  async () => {
    const { id, bob } = await topicOf('watching', 'one', 'two', 'three')
    const [lines, text] = [watch(id, '--from', '2', '--json'), watch('watching', '--from', 'now')]
    for (const each of [lines, text]) await each.printed(/Watching "watching"\. Ctrl-C ends\./)
    expect(text.output.stdout).toBe('')
    for (const words of ['four', 'five']) {
      await bob.send(id, words)
      for (const each of [lines, text]) await each.printed(new RegExp(words))
    }
    await bob.call('topic_close', { topic_id: id, reason: 'lunch' })
    await text.printed(/— The topic was closed: lunch\. —/)
    await bob.call('topic_reopen', { topic_id: id })
    await text.printed(/— The topic is open again\. —/)
    await topics('send', id, '--as', 'ann', 'six')
    for (const each of [lines, text]) await each.printed(/six/)
    const shown = lines.output.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(shown.map(({ seq, sender }) => [seq, sender])).toEqual([
      [2, 'bob'],
      [3, 'bob'],
      [4, 'bob'],
      [5, 'bob'],
      [6, 'ann'],
    ])
    expect(text.output.stdout).toMatch(
      /^#4 bob · message · 2\S+Z\n {4}four\n\n#5 bob[\s\S]*#6 ann · message · 2\S+Z\n {4}six\n\n$/,
    )
    for (const { child, gone } of [lines, text]) {
      child.kill('SIGINT')
      expect(await gone).toBe(0)
    }
  },
)

test('watch begins with the last ten messages, and ends quietly when its reader has read enough', async () => {
  const { id, bob } = await topicOf('tail', ...Array.from({ length: 12 }, (_, n) => `number ${n + 1}`))
  const { child, printed, output, gone } = watch(id)
  await printed(/Watching/)
  expect(output.stdout.match(/^#\d+/gm)).toEqual(Array.from({ length: 10 }, (_, n) => `#${n + 3}`))
  child.stdout.destroy()
  await bob.send(id, 'nobody reads this')
  expect(await gone).toBe(0)
  expect(output.stderr).not.toContain('EPIPE')
})

verifies(
  ['cli.topics.presence', 'cli.topics.json'],
  'presence shows who reads a topic and how far each is',
  async () => {
    const { id, bob } = await topicOf('presence', 'one', 'two')
    await peer('ann').join('ann', 'presence')
    await peer('ann').sync(id, { max_items: 1 })
    await peer('carol').join('carol', 'presence')
    await bob.sync(id)
    const rows = (await topics('presence', id)).split('\n').map((line) => line.split('\t'))
    expect(rows[0]).toEqual(['peer', 'read to', 'behind', 'last seen'])
    expect(rows).toContainEqual(['ann', '1', '1', expect.stringMatching(/Z$/)])
    expect(await json('presence', id, '--window', '60')).toMatchObject({ topic_id: id, window_seconds: 60, count: 2 })
  },
)

verifies(['cli.topics.export', 'cli.topics.json'], 'export writes all of a topic, to stdout or a file', async () => {
  const { id, said } = await topicOf('a *b* <c>', '# one\n\ntwo', 'three')
  const page = await topics('export', id)
  expect(page).toMatch(/^# a \\\*b\\\* \\<c\\>\n\n\| \| \|\n\|---\|---\|\n\| topic \| \w{16} \|/)
  expect(page).toMatch(/## 1 · bob · message · \S+Z\n\n<!-- message_id: \w{16} -->\n\n> # one\n>\n> two\n\n## 2 · bob/)
  const lines = (await topics('export', id, '--format', 'jsonl'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject(said.map(({ message_id, content_markdown }) => ({ message_id, content_markdown })))
  expect(await json('export', id)).toMatchObject({ topic: { topic_id: id }, messages: lines })

  const file = join(parley().storage, 'page.md')
  expect(await topics('export', id, '--output', file)).toBe(`Wrote 2 messages of "a *b* <c>" to ${file}.\n`)
  const undated = (text: string) => text.replace(/exported .*/, '')
  expect(undated(await readFile(file, 'utf8'))).toBe(undated(page))
  expect(await json('export', id, '--format', 'jsonl', '--output', file)).toMatchObject({ messages: 2, output: file })
  expect(await fails('export', id, '--output', join(file, 'no'))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The file cannot be written: ENOTDIR[^\n]*\nName another one with --output/),
  })
  expect(await fails('export', id, '--json', '--format', 'md')).toMatchObject({ code: 2 })
})

verifies(['cli.topics.rename', 'cli.topics.json'], 'rename is felt by those who watch and those who look', async () => {
  const { id, bob } = await topicOf('old name')
  const { printed } = watch(id)
  await printed(/Watching/)
  expect(await topics('rename', 'old name', ' new name ')).toBe('"old name" is now called "new name".\n')
  await printed(/— The topic is now called "new name"\. —/)
  expect(await bob.call('topic_resolve', { name: 'New Name' })).toMatchObject({ topic_id: id })
  expect(await json('rename', id, 'third name')).toMatchObject({ topic_id: id, name: 'third name' })
  await topicOf('taken')
  expect(await fails('rename', id, 'TAKEN')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Another open topic'),
  })
  expect(await fails('rename', id, 'a\nb')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('control characters'),
  })
})

verifies(
  'cli.topics.delete-asks',
  'delete does nothing unless it is forced, and says what it would remove',
  async () => {
    const { id } = await topicOf('precious', 'one', 'two')
    expect(await fails('delete', 'precious')).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: This would delete the topic "precious" (${id}) with 2 messages and the places of 1 peer, for good.\nNothing was deleted. Pass --force to do it.\n`,
    })
    expect(await json('show', id)).toMatchObject({ messages: [{ seq: 1 }, { seq: 2 }] })
  },
)

verifies(['cli.topics.delete', 'cli.topics.json'], 'delete tells those who wait and those who watch', async () => {
  const { id, bob } = await topicOf('doomed', 'one')
  await bob.sync(id)
  const watching = watch(id)
  await watching.printed(/Watching/)
  const waiting = expect(bob.sync(id, { wait_seconds: 40 })).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
  await expect.poll(() => waitingCalls(parley())).toBe(1)
  expect(await topics('delete', 'doomed', '--force')).toMatch(/^Deleted the topic "doomed" \(\w+\) with 1 message /)
  await waiting
  expect(await watching.gone).toBe(1)
  expect(watching.output.stderr).toContain('The topic "doomed" was deleted.\n')
  expect(await fails('show', id)).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no topic') })
  const { id: next } = await topicOf('doomed')
  expect(await json('delete', next, '--force')).toMatchObject({ topic_id: next, messages: 0, peers: 1, deleted: true })
})

verifies(
  ['cli.topics.send', 'cli.topics.json'],
  'send wakes a peer that waits, under the name it is given',
  async () => {
    const { id, bob, said } = await topicOf('sending', 'which?')
    const waiting = bob.sync(id, { wait_seconds: 40 })
    await expect.poll(() => waitingCalls(parley())).toBe(1)
    expect(await topics('send', 'sending', 'Stop', 'and', 'wait.')).toBe(
      `Sent #2 to "sending" as ${userInfo().username}.\n`,
    )
    expect((await waiting).received).toMatchObject([
      { sender: userInfo().username, content_markdown: 'Stop and wait.' },
    ])

    const from = (input: string, ...args: string[]) =>
      printedBy(parley(), ['topics', 'send', id, '--json', ...args], { input })
    expect(JSON.parse(await from('two\nlines\n', '--as', 'ann', '--type', 'answer', '--reply-to', '1'))).toMatchObject({
      seq: 3,
      sender: 'ann',
      message_type: 'answer',
      content_markdown: 'two\nlines',
      reply_to: said[0]?.message_id,
      reply_to_seq: 1,
    })
    await topics('send', id, '--as', 'ann', '--reply-to', said[0]?.message_id ?? '', '--', '--dashes', 'too')
    expect((await bob.sync(id)).received).toMatchObject([
      { seq: 3 },
      { content_markdown: '--dashes too', reply_to: said[0]?.message_id },
    ])
    expect(await json('presence', id)).toMatchObject({ peers: [{ agent_name: 'bob' }] })
  },
)

test('send says when a peer of the same name will not get it, and does not disturb that peer', async () => {
  const { id, bob } = await topicOf('namesakes')
  await bob.sync(id)
  expect(await fails('send', id, '--as', 'BOB', 'hello')).toMatchObject({
    code: 0,
    stdout: 'Sent #1 to "namesakes" as bob.\n',
    stderr: expect.stringContaining('A peer called bob takes this message'),
  })
  expect(await bob.sync(id)).toMatchObject({ received: [], cursor: { last_seq: 0 } })
})
