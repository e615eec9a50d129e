/** `parley topics` for a person at a terminal, which is made up here. */

import { expect, test } from 'vitest'
import { commons } from '../../../src/base/names.ts'
import { local, person } from '../../../src/core/access/callers.ts'
import { remark } from '../../../src/core/topics/remarks.ts'
import { createTopic } from '../../../src/core/topics/topics.ts'
import { topicsCommand } from '../../../src/doors/cli/topics/topics.ts'
import { storeDesk } from '../../../src/doors/people/store-desk.ts'
import { TestClock } from '../../support/clock.ts'
import { eachEngine } from '../../support/engines.ts'
import { as, openTestHub } from '../../support/hub.ts'
import { verifies } from '../../support/verifies.ts'

/** A terminal of 60 columns at which somebody types `typed`. */
function terminal(typed: string) {
  const seen = { out: '', err: '' }
  const screen = {
    tty: true,
    errTty: true,
    color: false,
    width: 60,
    out: async (text: string) => {
      seen.out += text
    },
    err: async (text: string) => {
      seen.err += text
    },
    note: async (line: string) => {
      seen.err += `${line}\n`
    },
    input: {
      tty: true,
      async *read() {
        yield Buffer.from(typed)
      },
      ask: async (question: string) => {
        seen.err += question
        return typed
      },
    },
  }
  return { seen, screen }
}

eachEngine('At a terminal', (open) => {
  const start = async () => {
    const database = await open()
    const clock = new TestClock()
    const connect = async () => openTestHub(await database.connect(), { clock })
    return {
      clock,
      connect,
      async run(args: string[], typed = '') {
        const { seen, screen } = terminal(typed)
        const openDesk = async () => storeDesk(await connect(), person)
        await topicsCommand({ open: connect, openDesk }, screen).parseAsync(args, { from: 'user' })
        return seen
      },
    }
  }

  verifies('cli.topics.terminal', 'times are relative, tables have columns, and what is empty says so', async () => {
    const { clock, connect, run } = await start()
    expect(await run(['list'])).toEqual({
      out: '',
      err: 'There are no open topics in commons. `parley topics list --status all` shows closed ones too.\n',
    })
    const hub = await connect()
    const topic = await createTopic(hub, local, commons, { name: 'planning', mode: 'new' })
    await remark(hub, as('ann'), { topic, outgoing: { body: 'x'.repeat(60), kind: 'question' } })
    await hub.close()
    clock.advance(200_000)
    const [head, row] = (await run(['list'])).out.split('\n')
    expect(head).toBe('NAME      ID                STATUS  MESSAGES  PEERS  LAST ACTIVITY')
    expect(row).toBe(`planning  ${topic.uid}  open           1      0  3 min ago`)
    expect((await run(['show', 'planning'])).out).toBe(
      `planning · ${topic.uid} · open · 1 message · 0 peers · 3 min ago\n\n#1 ann · question · 3 min ago\n    ${'x'.repeat(56)}\n    xxxx\n\n`,
    )
    expect(await run(['presence', 'planning'])).toEqual({
      out: '',
      err: 'Nobody has read "planning" in the last 300 s.\n',
    })
  })

  verifies('cli.topics.delete-asks', 'delete waits for a typed yes', async () => {
    const { connect, run } = await start()
    const hub = await connect()
    const { uid } = await createTopic(hub, local, commons, { name: 'planning', mode: 'new' })
    await hub.close()
    for (const typed of ['', 'y', 'no'])
      await expect(run(['delete', uid], typed)).rejects.toThrow('Nothing was deleted.')
    const { out, err } = await run(['delete', uid], 'Yes')
    expect(err).toBe(
      `This deletes the topic "planning" (${uid}) with 0 messages and the places of 0 peers, for good.\nType yes to do it: `,
    )
    expect(out).toMatch(/^Deleted the topic "planning"/)
    await expect(run(['delete', uid], 'yes')).rejects.toMatchObject({ code: 'TOPIC_NOT_FOUND' })
  })

  test('a message can be typed', async () => {
    const { connect, run } = await start()
    const hub = await connect()
    await createTopic(hub, local, commons, { name: 'planning', mode: 'new' })
    await hub.close()
    expect(await run(['send', 'planning', '--as', 'ann'], 'typed\nby hand\n')).toEqual({
      out: 'Sent #1 to "planning" as ann.\n',
      err: 'Type the message; end it with Ctrl-D on a line of its own.\n',
    })
    expect((await run(['show', 'planning'])).out).toContain('    typed\n    by hand\n\n')
  })
})
