/** Attachments of messages, on both engines: stored with their message or not at all, for whom, and how much an answer shows. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { counts, failure, startAttachments } from '../../../test/support/attachments.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { registered } from '../../../test/support/hub.ts'
import { drawing, noise, uriOf } from '../../../test/support/pictures.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { Unsure } from '../../db/faults.ts'
import { agentCaller, local, operator } from '../access/callers.ts'
import { createKey } from '../agents/keys.ts'
import { setContactPolicy } from '../contacts/links.ts'
import type { Rules } from '../hub/hub.ts'
import { listInbox, listOutbox } from '../mail/inbox.ts'
import { needMessage } from '../threads/mail-threads.ts'
import { reply } from './reply.ts'
import { send } from './send.ts'
import { stage, sweepStaged, withStaged } from './staging.ts'

eachEngine('Attachments', (open) => {
  const start = (rules?: Partial<Rules['attachments']>) => startAttachments(open, rules)

  verifies('mail.attach.quota', 'files beyond the quota are refused with their message', async () => {
    const { hub, db, project, write, send } = await start({ quotaBytes: 100 })
    await write('a.txt', 'a'.repeat(60))
    await write('b.txt', 'b'.repeat(41))
    await send({ enclosing: { paths: ['a.txt'] } })
    const before = await counts(db)
    expect(before).toMatchObject({ messages: 1, files: 1, bytes: 60 })
    expect(await failure(send({ enclosing: { paths: ['b.txt'] } }))).toMatchObject({ code: 'QUOTA_EXCEEDED' })
    expect(await counts(db)).toEqual(before)
    // A file stored before costs nothing, and another project has a quota of its own.
    await send({ enclosing: { paths: ['a.txt'] } })
    await write('b.txt', 'b'.repeat(40))
    const both = await Promise.allSettled(['b.txt', 'a.txt'].map((path) => send({ enclosing: { paths: [path] } })))
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    expect(await counts(db)).toMatchObject({ files: 2, bytes: 100 })
    expect(project).not.toBe('')
    await hub.close()
  })

  verifies('mail.attach.together', 'a send that reaches nobody stores no attachment', async () => {
    const { hub, db, project, write, send } = await start()
    await write('a.txt', 'a')
    await setContactPolicy(hub, registered('BlueLake', project), 'block_all')
    const before = await counts(db)
    expect(await failure(send({ enclosing: { paths: ['a.txt'] } }))).toMatchObject({ code: 'CONTACT_BLOCKED' })
    expect(await counts(db)).toEqual(before)
    await hub.close()
  })

  verifies(
    'mail.attach.together',
    'what a process that died has written before its send is deleted later',
    async () => {
      const { hub, db, write, send, clock, projectId } = await start()
      await write('a.txt', 'a')
      await send({ enclosing: { paths: ['a.txt'] } })
      const before = await counts(db)
      const files = [{ path: 'attachments/00/dead.bin', bytes: Buffer.alloc(2 ** 20, 1) }]
      await stage(hub, local, { projectId, files })
      expect(await counts(db)).toMatchObject({ staged: 1, parts: 9, files: 1 })
      await write('b.txt', 'b')
      await send({ enclosing: { paths: ['b.txt'] } })
      expect(await counts(db)).toMatchObject({ staged: 1, parts: 10 })
      clock.advance(2 * 3_600_000)
      await write('c.txt', 'c')
      await send({ enclosing: { paths: ['c.txt'] } })
      expect(await counts(db)).toEqual({ ...before, messages: 3, files: 3, parts: 3, bytes: 3 })
      await hub.close()
    },
  )

  verifies(
    'mail.attach.together',
    'what a send has written stays while nobody knows whether the send is saved, and is deleted later',
    async () => {
      const { hub, db, clock, projectId } = await start()
      const files = [{ path: 'attachments/00/late.bin', bytes: Buffer.alloc(10) }]
      const failing = (error: Error) =>
        expect(withStaged(hub, local, { projectId, files }, () => Promise.reject(error))).rejects.toBe(error)
      await failing(new Error('refused'))
      expect(await counts(db)).toMatchObject({ staged: 0, parts: 0 })
      await failing(new Unsure(new Error('lost')))
      expect(await counts(db)).toMatchObject({ staged: 1, parts: 1 })
      clock.advance(2 * 3_600_000)
      await sweepStaged(hub, local)
      expect(await counts(db)).toMatchObject({ staged: 0, parts: 0 })
      await hub.close()
    },
  )

  verifies(
    'mail.attach.retry',
    'a retry is answered with the stored attachments, even if the file is gone',
    async () => {
      const { hub, db, project, write, send } = await start()
      await write('a.txt', 'a')
      const png = uriOf('image/png', await drawing().png().toBuffer())
      const draft = { clientId: 'mine', enclosing: { paths: ['a.txt', png] } }
      const first = await send(draft)
      await rm(join(project, 'a.txt'))
      const before = await counts(db)
      expect(await send(draft)).toMatchObject({
        messageId: first.messageId,
        duplicate: true,
        attachments: first.attachments,
      })
      expect(await failure(send({ ...draft, clientId: 'another' }))).toMatchObject({ code: 'NOT_FOUND' })
      expect(await counts(db)).toEqual(before)
      await hub.close()
    },
  )

  verifies('mail.attach.answers', 'the content of images in answers has a bound', async () => {
    const { hub, project, send, inbox } = await start()
    const uri = uriOf('image/png', await noise(150, 150).png().toBuffer())
    const sent = await send({ enclosing: { paths: [uri] } })
    const known = {
      kind: 'inline',
      mediaType: 'image/webp',
      sha1: expect.stringMatching(/^[0-9a-f]{40}$/),
      inBody: false,
    }
    expect(sent.attachments).toEqual([{ ...known, dataUri: undefined }])
    const whole = [{ ...known, dataUri: expect.stringMatching(/^data:image\/webp/) }]
    const bare = await listInbox(hub, registered('BlueLake', project), { limit: 10 })
    expect(bare.messages[0]?.attachments).toEqual(sent.attachments)
    expect((await inbox())[0]?.attachments).toEqual(whole)
    expect((await needMessage(hub, local, project, sent.messageId)).attachments).toEqual(whole)
    const outbox = await listOutbox(hub, registered('GreenCastle', project), { limit: 10, bodies: true })
    expect(outbox.messages[0]?.attachments).toEqual(whole)
    await hub.close()
  })

  verifies('mail.attach.reply', 'a reply takes attachments and converts images', async () => {
    const { hub, project, write, send } = await start()
    await write('flow.png', await drawing().png().toBuffer())
    await write('a.txt', 'a')
    const { messageId } = await send()
    const answer = await reply(hub, registered('BlueLake', project), {
      messageId,
      body: '![flow](flow.png)',
      enclosing: { paths: ['a.txt'] },
    })
    expect(answer.attachments).toMatchObject([{ kind: 'inline' }, { kind: 'file', mediaType: 'text/plain' }])
    await hub.close()
  })

  verifies('mail.attach.callers', 'files are read for local callers and the operator only', async () => {
    const { hub, db, project, write, green, send } = await start()
    await write('flow.png', await drawing().png().toBuffer())
    await send({ enclosing: { paths: ['flow.png'] } })
    const draft = { to: [{ name: 'BlueLake' }], body: 'x', enclosing: { paths: ['flow.png'] } }
    const kept = await deliver(hub, { ...green, caller: operator }, draft)
    expect(kept.attachments).toHaveLength(1)
    const { id, projectId } = kept.deliveries[0]?.agent ?? { id: 0, projectId: 0 }
    await createKey(hub, registered('BlueLake', project))
    const keyed = { ...registered('BlueLake', project), caller: agentCaller({ id, projectId }) }
    const before = await counts(db)
    for (const path of ['flow.png', 'missing.png', '../x', '/proc/self/environ'])
      expect(await failure(deliver(hub, keyed, { ...draft, enclosing: { paths: [path] } }))).toMatchObject({
        code: 'FORBIDDEN',
        hint: expect.stringContaining('data URI'),
      })
    expect(await counts(db)).toEqual(before)
    const uri = uriOf('image/png', await drawing().png().toBuffer())
    const body = '![flow](flow.png) ![out](../secret.png)'
    const sent = await deliver(hub, keyed, { to: [{ name: 'GreenCastle' }], body, enclosing: { paths: [uri] } })
    expect(sent.attachments).toMatchObject([{ kind: 'inline' }])
    expect((await needMessage(hub, operator, project, sent.messageId)).body).toBe(body)
    await hub.close()
  })
})

const deliver = send
