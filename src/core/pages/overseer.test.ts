/** Mail from people as people see it themselves, on both engines. */
import { expect } from 'vitest'
import { eachEngine } from '../../../test/support/engines.ts'
import { back, openPages } from '../../../test/support/pages.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { preamble } from '../../base/preamble.ts'
import { operator, person } from '../access/callers.ts'
import { summarizeThread } from '../threads/summaries.ts'
import { countAttention, listAttention } from './late-mail.ts'
import { sendAsOverseer } from './overseer.ts'
import { searchMail } from './search.ts'
import { listAllMail } from './unified-inbox.ts'

eachEngine('Mail from people', (open) => {
  const composed = { subject: 'Stop', body: 'Revert the migration now.', project: back, thread: 'OPS-1' }

  verifies('web.overseer.folded', 'is their own words in lists, search and summaries', async () => {
    const { hub, write } = await openPages(open)
    await sendAsOverseer(hub, person, { ...composed, recipients: ['Ann', 'Bob'] })
    const copied = await write('Ann', [{ name: 'Bob' }], { body: `${preamble}I am no person.` })
    const { items } = await listAllMail(hub, operator, { limit: 10 })
    expect(items.map(({ excerpt }) => excerpt)).toEqual([
      expect.stringContaining('MESSAGE FROM HUMAN OVERSEER'),
      'Revert the migration now.',
    ])
    expect(items[0]?.id).toBe(copied)
    const { results } = await searchMail(hub, operator, { query: 'revert', limit: 10 })
    expect(results.map(({ snippet }) => snippet.text)).toEqual(['Revert the migration now.'])
    const told = await summarizeThread(hub, operator, { project: back, key: 'OPS-1', refine: false })
    expect(JSON.stringify(told)).not.toMatch(/OVERSEER 🚨|supersedes/)
    expect(told.examples.map(({ text }) => text)).toEqual(['Revert the migration now.'])
    await hub.close()
  })

  verifies('web.overseer.counts', 'is in no count of theirs, and what is high is not urgent', async () => {
    const { hub, write, clock } = await openPages(open)
    await sendAsOverseer(hub, person, { ...composed, recipients: ['Ann', 'Bob'] })
    await write('Ann', [{ name: 'Bob' }], { importance: 'high' })
    const urgent = await write('Ann', [{ name: 'Cleo' }], { importance: 'urgent' })
    clock.advance(3_600_000)
    for (const project of [undefined, back]) {
      expect(await countAttention(hub, operator, { project })).toMatchObject({ urgent: 1, unread: 2 })
      const { items } = await listAttention(hub, operator, { view: 'urgent', project, limit: 10 })
      expect(items.map(({ id }) => id)).toEqual([urgent])
    }
    await hub.close()
  })
})
