/** The mailbox door as a plain client meets it. */
import { describe, expect } from 'vitest'
import { callTool, mailbox, shareServer } from '../../support/parley.ts'
import { verifies } from '../../support/verifies.ts'

const parley = shareServer({ env: { MAILBOX_MAX_DEPTH: '5', MAX_WAIT_SECONDS: '2' } })

let count = 0
/** Agents that no other test knows. */
const pair = () => {
  count++
  const names = [`alice-${count}`, `bob-${count}`] as const
  return { names, alice: mailbox(parley(), names[0]), bob: mailbox(parley(), names[1]) }
}

describe('Sending and checking', () => {
  verifies(
    [
      'mailbox.send.delivered',
      'mailbox.agent.no-set-up',
      'mailbox.agent.path',
      'mailbox.check.shape',
      'all.recipients.created',
    ],
    'a message comes to the agent it names, with the name of its sender, and neither needed a set-up',
    async () => {
      const { names, alice, bob } = pair()
      const before = Date.now()
      const id = await alice.send(names[1], 'ping')
      const mail = await bob.check()
      expect(mail).toEqual({ id, from: names[0], content: 'ping', created: expect.any(String) })
      expect(Date.parse(mail?.created ?? '')).toBeGreaterThanOrEqual(before - 1)
      expect(new Date(mail?.created ?? '').toISOString()).toBe(mail?.created)
    },
  )

  verifies('mailbox.pop.empty', 'an empty mailbox answers null, also one that nobody ever wrote to', async () => {
    expect(await pair().bob.check()).toBeNull()
  })

  verifies('mailbox.pop.fifo', 'messages come in the order in which they were sent', async () => {
    const { names, alice, bob } = pair()
    for (const text of ['one', 'two', 'three', 'four']) await alice.send(names[1], text)
    const contents = []
    for (let mail = await bob.check(); mail !== null; mail = await bob.check()) contents.push(mail.content)
    expect(contents).toEqual(['one', 'two', 'three', 'four'])
  })

  verifies('mailbox.pop.own', 'an agent takes its own mail only', async () => {
    const { names, alice, bob } = pair()
    await alice.send(names[1], 'for bob')
    expect(await alice.check()).toBeNull()
    expect(await bob.check()).toMatchObject({ content: 'for bob' })
  })

  verifies('mailbox.send.verbatim', 'a message arrives as it was sent, to the last character', async () => {
    const { names, alice, bob } = pair()
    const text = ' "quoted" \\ \n\t </script> Ünïcödé 漢字 🦜👩‍👩‍👧 \u2028 \u{10FFFF} \u0001 '
    await alice.send(names[1], text)
    expect((await bob.check())?.content).toBe(text)
  })

  verifies('mailbox.send.id', 'a send answers with the id it was given, or with a UUID made for it', async () => {
    const { names, alice } = pair()
    expect(await alice.send(names[1], 'named', 'my own id')).toBe('my own id')
    expect(await alice.send(names[1], 'unnamed')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })

  verifies('all.names.case', 'names are compared without case and shown as first written', async () => {
    const { names, bob } = pair()
    const shouting = mailbox(parley(), names[0].toUpperCase())
    await shouting.send(names[1].toUpperCase(), 'first')
    await mailbox(parley(), names[0]).send(names[1], 'second')
    expect(await bob.check()).toMatchObject({ from: names[0].toUpperCase(), content: 'first' })
    expect(await bob.check()).toMatchObject({ from: names[0].toUpperCase(), content: 'second' })
  })

  verifies(
    'all.project.chosen',
    'a call works in the project commons, or in the one that ?project= names',
    async () => {
      const { names, alice, bob } = pair()
      const elsewhere = (name: string) => mailbox(parley(), name, { query: '?project=/srv/other%20place' })
      await elsewhere(names[0]).send(names[1], 'elsewhere')
      expect(await bob.check()).toBeNull()
      await alice.send(names[1], 'here')
      expect(await elsewhere(names[1]).check()).toMatchObject({ content: 'elsewhere' })
      expect(await elsewhere(names[1]).check()).toBeNull()
      expect(await mailbox(parley(), names[1], { query: '?project=commons' }).check()).toMatchObject({
        content: 'here',
      })
    },
  )
})

describe('Ids that clients give', () => {
  verifies(
    ['mailbox.send.idempotent', 'mailbox.send.other-words'],
    'a retry returns the same id and stores nothing; other words are another message',
    async () => {
      const { names, alice, bob } = pair()
      const say = (text: string) => alice.send(names[1], text, 'x')
      expect([await say('first words'), await say('first words')]).toEqual(['x', 'x'])
      const other = await say('other words')
      expect(other).not.toBe('x')
      expect(await say('other words')).toBe(other)
      expect(await bob.check()).toMatchObject({ id: 'x', content: 'first words' })
      expect(await bob.check()).toMatchObject({ id: other, content: 'other words' })
      // And after they were read.
      expect([await say('first words'), await say('other words')]).toEqual(['x', other])
      expect(await bob.check()).toBeNull()
    },
  )

  verifies('mailbox.send.idempotent', 'retries that race each other store one message', async () => {
    const { names, alice, bob } = pair()
    const ids = await Promise.all(Array.from({ length: 20 }, () => alice.send(names[1], 'once', 'x')))
    expect(new Set(ids)).toEqual(new Set(['x']))
    expect(await bob.check()).toMatchObject({ content: 'once' })
    expect(await bob.check()).toBeNull()
  })

  verifies('mailbox.send.shared-id', 'another sender, and the answer, may use the same id', async () => {
    const { names, alice, bob } = pair()
    const carol = mailbox(parley(), `carol-${count}`)
    await alice.send(names[1], 'question', 'x')
    await carol.send(names[1], 'another question', 'x')
    expect(await bob.check()).toMatchObject({ id: 'x', from: names[0] })
    expect(await bob.check()).toMatchObject({ id: 'x', from: `carol-${count}` })
    expect(await bob.send(names[0], 'answer', 'x')).toBe('x')
    expect(await alice.check()).toMatchObject({ id: 'x', from: names[1], content: 'answer' })
  })
})

describe('Waiting', () => {
  verifies('mailbox.wait.wakes', 'a call that waits answers as soon as a message arrives', async () => {
    const { names, alice, bob } = pair()
    const waiting = bob.check({ wait_seconds: 2 })
    const began = performance.now()
    await alice.send(names[1], 'wake up')
    expect(await waiting).toMatchObject({ content: 'wake up' })
    // Far from the deadline; how fast it is, the bench tells.
    expect(performance.now() - began).toBeLessThan(1500)
  })

  verifies(
    ['all.wait.empty', 'all.wait.any-number'],
    'a wait that ends empty is a normal result; fractions are fine',
    async () => {
      const { names } = pair()
      const result = await callTool(`${parley().url}/agents/${names[1]}/mcp`, 'check_mail', { wait_seconds: 0.05 })
      expect(result.isError ?? false).toBe(false)
      expect(result.structuredContent).toEqual({ result: null })
    },
  )

  verifies('all.wait.cut', 'no call waits longer than MAX_WAIT_SECONDS', async () => {
    const began = performance.now()
    expect(await pair().bob.check({ wait_seconds: 1e9 })).toBeNull()
    const seconds = (performance.now() - began) / 1000
    expect(seconds).toBeGreaterThan(1.9)
    expect(seconds).toBeLessThan(20)
  })

  verifies('mailbox.wait.wakes', 'a lease that ends wakes who waits for mail', async () => {
    const { names, alice, bob } = pair()
    await alice.send(names[1], 'lent')
    expect(await bob.check({ lease_seconds: 0.2 })).toMatchObject({ content: 'lent' })
    expect(await bob.check({ wait_seconds: 2 })).toMatchObject({ content: 'lent' })
  })
})

describe('Leases', () => {
  verifies(
    ['mailbox.ack.repeated', 'mailbox.check.shape', 'mailbox.lease.unread'],
    'a message comes with its lease, and is gone for good once it is acknowledged, also twice',
    async () => {
      const { names, alice, bob } = pair()
      await alice.send(names[1], 'lent', 'x')
      const mail = await bob.check({ lease_seconds: 60 })
      expect(mail).toEqual({
        id: 'x',
        from: names[0],
        content: 'lent',
        created: expect.any(String),
        lease: expect.any(String),
      })
      expect(await bob.check()).toBeNull()
      expect(await bob.ack('x', mail?.lease ?? '')).toEqual({ id: 'x', acked: true })
      expect(await bob.ack('x', mail?.lease ?? '')).toEqual({ id: 'x', acked: true })
      expect(await bob.check({ wait_seconds: 0.1 })).toBeNull()
    },
  )

  verifies(
    'mailbox.lease.returns',
    'mail that is not acknowledged in time returns to the head of the mailbox',
    async () => {
      const { names, alice, bob } = pair()
      await alice.send(names[1], 'first')
      await alice.send(names[1], 'second')
      expect(await bob.check({ lease_seconds: 0.2 })).toMatchObject({ content: 'first' })
      expect(await bob.check({ lease_seconds: 0.3 })).toMatchObject({ content: 'second' })
      await alice.send(names[1], 'third')
      expect(await bob.check({ lease_seconds: 60 })).toMatchObject({ content: 'third' })
      expect(await bob.check({ wait_seconds: 2 })).toMatchObject({ content: 'first' })
      expect(await bob.check({ wait_seconds: 2 })).toMatchObject({ content: 'second' })
    },
  )

  verifies(
    ['mailbox.ack.late', 'mailbox.ack.expired'],
    'a late acknowledgement holds until somebody else was given the message',
    async () => {
      const { names, alice, bob } = pair()
      await alice.send(names[1], 'first', 'x')
      const late = await bob.check({ lease_seconds: 0.01 })
      expect(await bob.ack('x', late?.lease ?? '')).toEqual({ id: 'x', acked: true })

      await alice.send(names[1], 'second', 'y')
      const lost = await bob.check({ lease_seconds: 0.01 })
      const again = await bob.check({ lease_seconds: 60, wait_seconds: 2 })
      expect(again).toMatchObject({ id: 'y' })
      await expect(bob.ack('y', lost?.lease ?? '')).rejects.toMatchObject({
        code: 'LEASE_EXPIRED',
        hint: expect.stringContaining('check_mail'),
      })
      expect(await bob.ack('y', again?.lease ?? '')).toEqual({ id: 'y', acked: true })
    },
  )

  verifies(
    'mailbox.ack.invented',
    'nobody acknowledges what it was not given, and is told that it was not',
    async () => {
      const { names, alice, bob } = pair()
      await alice.send(names[1], 'popped', 'x')
      await bob.check()
      const invented = { code: 'INVALID_ARGUMENT', message: expect.stringMatching(/is not a lease of message "[xyz]"/) }
      await expect(bob.ack('x', 'made-up')).rejects.toMatchObject(invented)
      await alice.send(names[1], 'lent', 'y')
      await alice.send(names[1], 'lent too', 'z')
      const { lease = '' } = (await bob.check({ lease_seconds: 60 })) ?? {}
      const other = await bob.check({ lease_seconds: 60 })
      const changed = `${lease.startsWith('A') ? 'B' : 'A'}${lease.slice(1)}`
      for (const wrong of ['made-up', changed, lease.slice(0, -1), other?.lease ?? ''])
        await expect(bob.ack('y', wrong), wrong).rejects.toMatchObject(invented)
      expect(await bob.ack('y', lease)).toEqual({ id: 'y', acked: true })
      await expect(bob.ack('z', 'made-up')).rejects.toMatchObject(invented)
      await expect(bob.ack('nothing', 'made-up')).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
      await expect(alice.ack('x', 'made-up')).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
    },
  )

  verifies(
    'mailbox.check.after',
    'after acknowledges the message handled last, and passes over what it does not know',
    async () => {
      const { names, alice, bob } = pair()
      await alice.send(names[1], 'first')
      await alice.send(names[1], 'second')
      const first = await bob.check({ lease_seconds: 0.3, after: 'never heard of' })
      expect(first).toMatchObject({ content: 'first' })
      expect(await bob.check({ lease_seconds: 60, after: first?.id })).toMatchObject({ content: 'second' })
      expect(await bob.check({ wait_seconds: 0.6 })).toBeNull()
    },
  )
})

describe('A full mailbox', () => {
  verifies(
    ['mailbox.depth.refused', 'mailbox.depth.retry', 'mailbox.lease.unread'],
    'refuses the next message by name, drops nothing, takes retries, and counts leased mail as unread',
    async () => {
      const { names, alice, bob } = pair()
      for (const id of ['1', '2', '3', '4', '5']) await alice.send(names[1], `number ${id}`, id)
      const full = { code: 'MAILBOX_FULL', message: expect.stringContaining(names[1]), hint: expect.any(String) }
      await expect(alice.send(names[1], 'one too many')).rejects.toMatchObject(full)
      expect(await alice.send(names[1], 'number 3', '3')).toBe('3')
      await expect(alice.send(names[1], 'no retry', '3')).rejects.toMatchObject(full)

      const lent = await bob.check({ lease_seconds: 60 })
      await expect(alice.send(names[1], 'still too many')).rejects.toMatchObject(full)
      await bob.ack('1', lent?.lease ?? '')
      expect(await alice.send(names[1], 'number 6', '6')).toBe('6')

      const ids = []
      for (let mail = await bob.check(); mail !== null; mail = await bob.check()) ids.push(mail.id)
      expect(ids).toEqual(['2', '3', '4', '5', '6'])
    },
  )
})
