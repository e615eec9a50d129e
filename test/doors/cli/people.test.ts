/** `parley inbox`, `send`, `watch` and the like as people run them, beside a server whose agents write. */
import { expect } from 'vitest'
import { parleyCommand, printedBy } from '../../support/cli.ts'
import { newDesk } from '../../support/mail.ts'
import { bareEnv, shareServer, spawnParley } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer()

verifies(
  ['cli.people.watch', 'cli.people.send', 'cli.people.inbox'],
  'watch shows what agents and people write, once and on one line',
  async () => {
    const [desk, elsewhere] = [await newDesk(parley()), await newDesk(parley())]
    const { message_id } = await desk.send({ thread_id: 'K-1' })
    const watch = (...args: string[]) => spawnParley(['watch', ...args], bareEnv(parley().storage))
    const [all, one, thread] = [
      watch('--json'),
      watch('--project', desk.project),
      watch('--follow', `#${message_id}`, '--json'),
    ]
    for (const each of [all, one, thread]) await each.printed(/Watching .*Ctrl-C ends\./)
    await desk.send({ subject: 'two', body_md: 'first\nsecond' })
    await elsewhere.send({ subject: 'three' })
    await desk.send({ subject: 'four', thread_id: 'K-1' })
    const sent = JSON.parse(
      await printedBy(parley(), ['send', 'RedStone', '--project', desk.project, '--json', 'five']),
    )
    await all.printed(/"five"/)
    await one.printed(/\tfive\t/)
    await thread.printed(/"four"/)
    const subjects = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).subject)
    expect(subjects(all.output.stdout)).toEqual(['two', 'three', 'four', 'five'])
    expect(subjects(thread.output.stdout)).toEqual(['four'])
    const lines = one.output.stdout.trimEnd().split('\n')
    expect(lines.map((line) => line.split('\t')[4])).toEqual(['subject', 'two', 'four', 'five'])
    for (const { child, gone } of [all, one, thread]) {
      child.kill('SIGINT')
      expect(await gone).toBe(0)
    }
    expect(await desk.inbox('RedStone')).toMatchObject([
      { id: sent.sent[0].message_id, from: 'HumanOverseer', subject: 'five', importance: 'high' },
    ])
    expect(await printedBy(parley(), ['inbox', 'RedStone', '--project', desk.project])).toContain('\tfive\t')
  },
)

verifies('cli.people.errors', 'the errors of watch and of numbers lead on', async () => {
  const refused = async (args: string[], code: number, says: RegExp) =>
    expect(await parleyCommand(parley(), args)).toMatchObject({ code, stderr: expect.stringMatching(says) })
  await refused(['watch', '--thread', 'K-1'], 2, /^error: The name of a thread[^\n]*\nAdd --project/)
  await refused(['watch', '--thread', '99999999'], 1, /^There is no message 99999999\.\n`parley inbox`/)
  await refused(['watch', '--project', 'nowhere'], 1, /^There is no project "nowhere"/)
  await refused(['read', 'twelve'], 2, /whole number, 1 or more/)
  await refused(['send'], 2, /missing required argument 'to'/)
})

verifies('cli.topics.create', 'topics create makes a topic once', async () => {
  const made = JSON.parse(await printedBy(parley(), ['topics', 'create', 'planning', '--json']))
  expect(made).toMatchObject({ name: 'planning', status: 'open' })
  expect(await printedBy(parley(), ['topics', 'create', 'Planning'])).toBe(
    `"planning" is there already: ${made.topic_id}.\n`,
  )
  expect(await printedBy(parley(), ['topics', 'create', 'second'])).toMatch(/^Made "second": \w+\./)
})
