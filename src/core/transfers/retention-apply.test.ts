/** Moving old mail out, on both engines: what goes, what stays, and that nothing is lost wherever it is cut off. */
import sql from 'sql-template-tag'
import { expect } from 'vitest'
import { counts, startAttachments } from '../../../test/support/attachments.ts'
import { TestClock } from '../../../test/support/clock.ts'
import { eachEngine, type OpenDatabase } from '../../../test/support/engines.ts'
import { catchUp as catchUpFollower } from '../../../test/support/feed.ts'
import { as, now, openTestHub } from '../../../test/support/hub.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { commons, overseer } from '../../base/names.ts'
import { agentCaller, local, operator } from '../access/callers.ts'
import { commitsOf } from '../archive/composing.ts'
import { toDetail } from '../archive/leaving.ts'
import { type Hub, inside, reader } from '../hub/hub.ts'
import { acknowledgeMessage } from '../mail/receipts.ts'
import { take } from '../mail/take.ts'
import { reply } from '../messages/reply.ts'
import { send } from '../messages/send.ts'
import { countingOf } from '../pages/activity-counts.ts'
import { catchUp } from '../search/projection.ts'
import { importProject } from './importing.ts'
import type { ExportRecord } from './records.ts'
import { applyRetention, type Moving } from './retention-apply.ts'
import { type ProjectPlan, planRetention } from './retention-plan.ts'

const day = 86_400_000
const rules = { maxAgeDays: 30, ignored: ['demo'] }

/** Exports in memory; `cut` may throw before one lasts, or once it does. */
function store(cut: (step: 'written' | 'kept') => void | Promise<void> = () => {}) {
  const kept: ExportRecord[][] = []
  const keep: Moving['keep'] = async (_project, write) => {
    const records: ExportRecord[] = []
    await write(async (record) => void records.push(record))
    await cut('written')
    kept.push(records)
    await cut('kept')
    return String(kept.length)
  }
  return { kept, keep }
}

const texts = (records: readonly ExportRecord[]): string[] =>
  records.flatMap((record) => (record.type === 'message' ? [record.body] : []))

async function begin(open: OpenDatabase) {
  const clock = new TestClock()
  const hub = await openTestHub(await (await open()).connect(), { clock })
  const mail = (to: string, body: string, more: { ackRequired?: boolean; thread?: string } = {}, project?: string) =>
    send(hub, as('ann', project), {
      to: [{ name: to }],
      body,
      ackRequired: more.ackRequired ?? false,
      thread: more.thread,
    })
  const takeAll = async (name: string, project?: string) => {
    while ((await take(hub, as(name, project), now)) !== undefined);
  }
  const plan = async () => {
    const plans: ProjectPlan[] = []
    for await (const one of planRetention(hub, operator, rules)) plans.push(one)
    return plans.map(({ project, ...rest }) => ({ project: project.slug, ...rest }))
  }
  const apply = async (keep: Moving['keep'], progress?: Moving['progress']) => {
    return applyRetention(hub, operator, { ...rules, keep, ...(progress && { progress }) })
  }
  const bodies = async () =>
    (await reader(hub).all<{ body: string }>(sql`SELECT body FROM messages ORDER BY body`)).map(({ body }) => body)
  return { clock, hub, mail, takeAll, plan, apply, bodies }
}

/** Rows of tables that refer to a message or a thread that is gone. */
async function orphans(hub: Hub): Promise<string[]> {
  const found: string[] = []
  const look = async (table: string, column: string, of: string) => {
    const there = await reader(hub)
      .all(sql([`SELECT 1 FROM ${table} WHERE ${column} NOT IN (SELECT id FROM ${of}) LIMIT 1`]))
      .catch(() => [])
    if (there.length > 0) found.push(table)
  }
  const ofMessage = 'deliveries client_ids repeated_ids message_guests project_box outbox message_people search_words'
  for (const table of `${ofMessage} search_pending inline_images attachment_carriers`.split(' '))
    await look(table, 'message_id', 'messages')
  for (const table of 'messages thread_box cursors read_marks conversations loop_threads'.split(' '))
    await look(table, 'thread_id', 'threads')
  return found
}

eachEngine('Moving old mail out', (open) => {
  verifies(
    ['mail.retention.plan', 'mail.retention.apply'],
    'whole threads that are old, read and acknowledged go; all others stay',
    async () => {
      const { clock, hub, mail, takeAll, plan, apply, bodies } = await begin(open)
      await mail('bob', 'read')
      const { messageId } = await mail('bob', 'acknowledged', { ackRequired: true, thread: 'T-1' })
      await mail('bob', 'wants an acknowledgement', { ackRequired: true })
      await mail('bob', 'begun long ago', { thread: 'T-2' })
      await mail('bob', 'left out', {}, '/srv/demo')
      await takeAll('bob')
      await takeAll('bob', '/srv/demo')
      await acknowledgeMessage(hub, as('bob'), messageId)
      await mail('carol', 'unread')
      clock.advance(31 * day)
      await mail('bob', 'goes on', { thread: 'T-2' })
      await mail('bob', 'new')
      await takeAll('bob')

      const [commons] = await plan()
      expect(commons).toMatchObject({
        project: 'commons',
        threads: 2,
        messages: 2,
        bytes: 'read'.length + 'acknowledged'.length,
        senders: [{ agent: 'ann', messages: 2 }],
        held: 2,
      })
      expect(await bodies()).toHaveLength(8)

      await catchUpFollower(hub, countingOf(hub))
      await catchUp(hub)
      const unread = () => reader(hub).all(sql`SELECT name, unread FROM agents ORDER BY id`)
      const before = await unread()
      const { kept, keep } = store()
      expect(await apply(keep)).toEqual({ threads: 2, messages: 2, exports: ['1'] })
      expect(kept.flatMap(texts)).toEqual(['read', 'acknowledged'])
      expect(await bodies()).toEqual([
        'begun long ago',
        'goes on',
        'left out',
        'new',
        'unread',
        'wants an acknowledgement',
      ])
      expect(await unread()).toEqual(before)
      expect(await orphans(hub)).toEqual([])
      const totals = sql`
        SELECT t.messages FROM activity_totals t JOIN projects p ON p.id = t.project_id WHERE p.slug = 'commons'`
      expect(await reader(hub).all(totals)).toEqual([{ messages: 5 }])
      expect(await apply(keep)).toEqual({ threads: 0, messages: 0, exports: [] })

      // The name of a thread is free, and the thread counts from 1.
      expect(await mail('bob', 'again', { thread: 'T-1' })).toMatchObject({ seq: 1 })
      await hub.close()
    },
  )

  verifies(
    ['mail.retention.back', 'mail.retention.kill'],
    'wherever it is cut off nothing is lost, the next run goes on, and what went is read back once',
    async () => {
      const { clock, hub, mail, takeAll, apply, bodies } = await begin(open)
      const { messageId } = await mail('bob', 'm 0', { thread: 'long' })
      for (let n = 1; n < 130; n++) await mail('bob', `m ${n}`, { thread: 'long' })
      await takeAll('bob')
      await reply(hub, as('bob'), { messageId, body: 'answer' })
      await takeAll('ann')
      for (let n = 0; n < 20; n++) await mail('bob', `short ${n}`)
      const people = { caller: operator, project: commons, name: overseer }
      await send(hub, people, { to: [{ name: 'bob' }], body: 'stop', author: 'Dora' })
      await takeAll('bob')
      const all = await bodies()
      expect(all).toHaveLength(152)
      clock.advance(31 * day)
      await mail('bob', 'new')

      const exports: ExportRecord[][] = []
      const dying = async (at: 'written' | 'kept' | 'removed') => {
        const { kept, keep } = store((step) => {
          if (step === at) throw new Error(`killed: ${at}`)
        })
        const stop = () => {
          if (at === 'removed') throw new Error(`killed: ${at}`)
        }
        await expect(apply(keep, stop)).rejects.toThrow(`killed: ${at}`)
        exports.push(...kept)
        const there = new Set([...(await bodies()), ...exports.flatMap(texts)])
        for (const body of all) expect(there).toContain(body)
        expect(await orphans(hub)).toEqual([])
      }
      for (const at of ['written', 'kept', 'removed', 'removed'] as const) await dying(at)
      const { kept, keep } = store()
      await apply(keep)
      exports.push(...kept)
      expect(await bodies()).toEqual(['new'])
      expect(await orphans(hub)).toEqual([])

      for (const records of exports)
        await importProject(hub, local, { records: () => records, force: true, missing: true })
      expect(await bodies()).toEqual([...all, 'new'].sort())
      const written = sql`SELECT p.name, m.body FROM message_people p JOIN messages m ON m.id = p.message_id`
      expect(await reader(hub).all(written)).toEqual([{ name: 'Dora', body: 'stop' }])
      const inOrder = sql`
        SELECT m.body, m.seq FROM messages m JOIN threads t ON t.id = m.thread_id WHERE t.key = 'long' ORDER BY m.seq`
      const long = await reader(hub).all<{ body: string; seq: number }>(inOrder)
      expect(long.map(({ seq }) => seq)).toEqual(long.map((_, at) => at + 1))
      expect(long.at(-1)?.body).toBe('answer')
      const [bob] = await reader(hub).all(sql`SELECT unread FROM agents WHERE name = 'bob'`)
      expect(bob).toEqual({ unread: 1 })
      await hub.close()
    },
  )

  verifies('mail.retention.apply', 'a thread that is written to while it is moved out stays whole', async () => {
    const { clock, hub, mail, takeAll, apply, bodies } = await begin(open)
    await mail('bob', 'old', { thread: 'T-1' })
    await mail('bob', 'older')
    await takeAll('bob')
    clock.advance(31 * day)
    const { keep } = store(async (step) => {
      if (step === 'kept') await mail('bob', 'just now', { thread: 'T-1' })
    })
    expect(await apply(keep)).toMatchObject({ threads: 1, messages: 1 })
    expect(await bodies()).toEqual(['just now', 'old'])
    await hub.close()
  })

  verifies('mail.retention.files', 'files go with the last message that carries them, and make room', async () => {
    const { hub, db, write, send: sendFile, clock, project } = await startAttachments(open)
    await write('a.txt', 'a'.repeat(60))
    await write('b.txt', 'b'.repeat(40))
    await sendFile({ enclosing: { paths: ['a.txt', 'b.txt'] } })
    clock.advance(31 * day)
    await sendFile({ enclosing: { paths: ['b.txt'] } })
    await hub[inside].db.tx((tx) => tx.all(sql`UPDATE deliveries SET read_at = sent_at`))
    expect(await counts(db)).toMatchObject({ messages: 2, files: 2, bytes: 100 })
    const { kept, keep } = store()
    expect(await applyRetention(hub, operator, { ...rules, keep })).toMatchObject({ messages: 1 })
    expect(await counts(db)).toMatchObject({ messages: 1, files: 1, bytes: 40, parts: 1, staged: 0 })
    expect(await orphans(hub)).toEqual([])
    const [records = []] = kept
    await importProject(hub, local, { records: () => records, force: true, missing: true })
    expect(await counts(db)).toMatchObject({ messages: 2, files: 2, bytes: 100 })
    expect(project).not.toBe('')
    await hub.close()
  })

  verifies(
    'mail.retention.files',
    'a file stays in the archive that a send named while its mail was moved out',
    async () => {
      const { hub, db, write, send: sendFile, projectId } = await startAttachments(open)
      await write('a.txt', 'a')
      await write('b.txt', 'b')
      await sendFile({ enclosing: { paths: ['a.txt'] } })
      const [{ path } = { path: '' }] = await db.all<{ path: string }>(sql`SELECT path FROM attachments`)
      const gone = path.replace(/[0-9a-f]{40}/, '0'.repeat(40))
      const detail = toDetail({ paths: ['messages/1.md', path, gone], keys: [] })
      const change = {
        id: 1,
        tx: 1,
        at: hub.clock.now(),
        actor: 'hub',
        kind: 'mail.retired' as const,
        projectId,
        detail,
      }
      const commits = await commitsOf(hub, [change])
      expect([...commits.values()].flat().flatMap(({ removed = [] }) => removed)).toEqual(['messages/1.md', gone])
      await hub.close()
    },
  )

  verifies('mail.retention.apply', 'is for people and the operator alone', async () => {
    const { hub, apply } = await begin(open)
    const agent = agentCaller({ id: 1, projectId: 1 })
    const { keep } = store()
    await expect(applyRetention(hub, agent, { ...rules, keep })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await apply(keep)).toMatchObject({ messages: 0 })
    await hub.close()
  })
})
