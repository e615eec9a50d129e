/** `parley acks` and `parley list-acks`, for a person at a terminal and for a program. */

import sql from 'sql-template-tag'
import { expect, test } from 'vitest'
import { inside } from '../../../src/core/hub/hub.ts'
import { acknowledgeMessage, markRead } from '../../../src/core/mail/receipts.ts'
import { send } from '../../../src/core/messages/send.ts'
import { acksCommand, listAcksCommand } from '../../../src/doors/cli/mail/acks.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine } from '../../support/engines.ts'
import { as, openTestHub } from '../../support/hub.ts'
import { testScreen } from '../../support/screen.ts'
import { verifies } from '../../support/verifies.ts'

const minute = 60_000
const project = '/srv/code/web'

eachEngine('acks', (open) => {
  /** BlueLake owes three acknowledgements, 65, 45 and 5 minutes old, and has given one. */
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const connect = async () => openTestHub(await database.connect(), { clock })
    const hub = await connect()
    const ask = (subject: string, options: { ackRequired?: boolean; importance?: 'urgent' } = {}) =>
      send(hub, as('GreenCastle', project), {
        to: [{ name: 'BlueLake' }],
        subject,
        body: 'Please confirm.',
        ackRequired: true,
        ...options,
      })
    const first = await ask('First', { importance: 'urgent' })
    const given = await ask('Given')
    await acknowledgeMessage(hub, as('BlueLake', project), given.messageId)
    await ask('No need', { ackRequired: false })
    clock.advance(20 * minute)
    const second = await ask('Second\u001b[2J\u202e')
    await markRead(hub, as('BlueLake', project), second.messageId)
    clock.advance(40 * minute)
    const third = await ask('Third')
    clock.advance(5 * minute)
    await hub.close()
    const run = async (args: string[], { tty = false, width = 80 } = {}) => {
      const { seen, screen } = testScreen({ tty, width })
      const [name, ...rest] = args
      const command = name === 'list-acks' ? listAcksCommand(connect, screen) : acksCommand(connect, () => 30, screen)
      await command.parseAsync(name === 'list-acks' ? rest : args, { from: 'user' })
      return seen
    }
    const json = async (...args: string[]) => JSON.parse((await run([...args, '--json'])).out)
    return { clock, connect, run, json, ids: [first, second, third].map(({ messageId }) => messageId) }
  }

  const subjects = ({ messages }: { messages: { subject: string }[] }) => messages.map(({ subject }) => subject)

  verifies('cli.acks.pending', 'pending shows all of them, the newest first', async () => {
    const { run, json, ids } = await start()
    const { out, err } = await run(['pending', project, 'bluelake'], { tty: true })
    expect(err).toBe('')
    expect(out.split('\n').map((line) => line.replace(/ +/g, ' ').trim())).toEqual([
      'ID FROM SUBJECT IMPORTANCE SENT READ',
      `${ids[2]} GreenCastle Third normal 5 min ago no`,
      `${ids[1]} GreenCastle Second␛[2J\\u202e normal 45 min ago 45 min ago`,
      `${ids[0]} GreenCastle First urgent 1 h ago no`,
      '',
    ])
    const answer = await json('pending', project, 'bluelake', '--limit', '1')
    expect(answer).toEqual({
      project: expect.stringMatching(/^web-/),
      agent: 'BlueLake',
      count: 1,
      has_more: true,
      note: expect.stringMatching(/--limit shows/),
      messages: [
        {
          id: ids[2],
          thread_id: null,
          subject: 'Third',
          from: 'GreenCastle',
          to: ['BlueLake'],
          cc: [],
          kind: 'to',
          importance: 'normal',
          ack_required: true,
          created_ts: '2026-01-01T01:00:00.000Z',
          read_ts: null,
          ack_ts: null,
          trust: 'project',
        },
      ],
    })
    expect(await json('list-acks', '--project', project, '--agent', 'BlueLake', '--limit', '1')).toEqual(answer)
    expect((await run(['pending', project, 'BlueLake', '--limit', '2'])).err).toBe(
      'There are more: --limit shows them.\n',
    )
  })

  verifies('cli.acks.remind', 'remind shows those that have waited for some time, the oldest first', async () => {
    const { json } = await start()
    expect(subjects(await json('remind', project, 'BlueLake'))).toEqual(['First', 'Second\u001b[2J\u202e'])
    const short = await json('remind', project, 'BlueLake', '--min-age-minutes', '4.5')
    expect(short.min_age_minutes).toBe(4.5)
    expect(subjects(short).at(-1)).toBe('Third')
    expect(subjects(await json('remind', project, 'BlueLake', '--min-age-minutes', '65'))).toEqual(['First'])
    expect(subjects(await json('remind', project, 'BlueLake', '--min-age-minutes', '66'))).toEqual([])
  })

  verifies('cli.acks.overdue', 'overdue asks the setting, unless a time is named', async () => {
    const { json, run } = await start()
    const usual = await json('overdue', project, 'BlueLake')
    expect(usual.ttl_minutes).toBe(30)
    expect(subjects(usual)).toEqual(['First', 'Second\u001b[2J\u202e'])
    expect(subjects(await json('overdue', project, 'BlueLake', '--ttl-minutes', '60'))).toEqual(['First'])
    expect(await run(['overdue', project, 'BlueLake', '--ttl-minutes', '90'], { tty: true })).toEqual({
      out: '',
      err: 'BlueLake has nothing to acknowledge that is older than 90 min.\n',
    })
    expect(await run(['pending', project, 'GreenCastle'], { tty: true })).toEqual({
      out: '',
      err: 'GreenCastle has nothing to acknowledge.\n',
    })
  })

  verifies('cli.acks.looks-only', 'looking marks nothing and is no activity of the agent', async () => {
    const { connect, run, clock } = await start()
    const hub = await connect()
    const state = async () => [
      await hub[inside].db.all(sql`SELECT name, active_at, unread FROM agents ORDER BY id`),
      await hub[inside].db.all(sql`SELECT id, read_at, acked_at FROM deliveries ORDER BY id`),
    ]
    const before = await state()
    clock.advance(minute)
    for (const verb of ['pending', 'remind', 'overdue']) await run([verb, project, 'BlueLake'])
    expect(await state()).toEqual(before)
  })

  verifies('cli.acks.harmless', 'no character that steers a terminal reaches it', async () => {
    const { run } = await start()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    const steering = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/
    for (const options of [{ tty: true, width: 60 }, { tty: false }])
      for (const args of [
        ['pending', project, 'BlueLake'],
        ['pending', project, 'BlueLake', '--json'],
      ]) {
        const { out } = await run(args, options)
        expect(out).toContain('Second')
        expect(out).not.toMatch(steering)
      }
    await expect(run(['pending', project, 'a\u001b[2J'])).rejects.toMatchObject({
      message: expect.not.stringMatching(steering),
    })
  })

  test('a table for another program has tabs and ISO times', async () => {
    const { run, ids } = await start()
    const lines = (await run(['overdue', project, 'BlueLake'])).out.split('\n')
    expect(lines[0]).toBe('id\tfrom\tsubject\timportance\tsent\tread')
    expect(lines[1]).toBe(`${ids[0]}\tGreenCastle\tFirst\turgent\t2026-01-01T00:00:00.000Z\tno`)
  })
})
