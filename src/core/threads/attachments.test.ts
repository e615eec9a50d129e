/** Attachments read by their hash: under the rule of sight, and for messages from before the hashes were noted. */
import sql, { raw } from 'sql-template-tag'
import { expect } from 'vitest'
import { failure, startAttachments } from '../../../test/support/attachments.ts'
import { eachEngine } from '../../../test/support/engines.ts'
import { registered } from '../../../test/support/hub.ts'
import { drawing, uriOf } from '../../../test/support/pictures.ts'
import { verifies } from '../../../test/support/verifies.ts'
import { attachmentCarriers } from '../../db/migrations/0020-attachment-carriers.ts'
import { agentCaller, local, operator } from '../access/callers.ts'
import { createKey } from '../agents/keys.ts'
import { register } from '../agents/registration.ts'
import { setContactPolicy } from '../contacts/links.ts'
import type { Attachment } from '../messages/attachments.ts'
import { send } from '../messages/send.ts'
import { needProject } from '../projects/projects.ts'
import { readByHash } from './attachments.ts'

const hashOf = ([first]: readonly Attachment[]): string =>
  first === undefined || first.kind === 'link' ? '' : (first.sha1 ?? '')

eachEngine('What a message carries', (open) => {
  verifies('mail.attach.resource', 'is read by those who may read the message', async () => {
    const { hub, project, projectId, send: sendGreen } = await startAttachments(open)
    const away = '/srv/away'
    const quiet = (await register(hub, local, { project: away, name: 'QuietOwl' })).profile
    await setContactPolicy(hub, registered('QuietOwl', away), 'open')
    const { id: awayId } = await needProject(hub, local, away)
    const text = async (caller: Parameters<typeof readByHash>[1], sha1: string, place?: string) =>
      (await readByHash(hub, caller, { sha1, project: place })).bytes.toString()
    const hidden = async (...args: Parameters<typeof text>) =>
      expect(await failure(text(...args))).toMatchObject({ code: 'NOT_FOUND' })

    const plainly = hashOf((await sendGreen({ enclosing: { paths: ['data:text/plain,open'] } })).attachments)
    expect(await text(local, plainly)).toBe('open')
    expect(await text(local, plainly, project)).toBe('open')
    await hidden(local, plainly, away)

    // A blind copy in another project reads what came with it.
    const blind = await sendGreen({
      to: [{ name: 'BlueLake' }, { name: 'QuietOwl', project: away, kind: 'bcc' }],
      enclosing: { paths: ['data:text/plain,blind'] },
    })
    expect(await text(local, hashOf(blind.attachments), away)).toBe('blind')
    expect(await text(agentCaller({ id: quiet.id, projectId: awayId }), hashOf(blind.attachments))).toBe('blind')

    // Between agents with keys it is theirs alone.
    const ids: number[] = []
    for (const name of ['GreenCastle', 'BlueLake', 'WhiteOwl']) {
      const { profile } = await register(hub, local, { project, name })
      ids.push(profile.id)
      await createKey(hub, { ...registered(name, project), caller: operator })
    }
    const [green = 0, blue = 0, white = 0] = ids
    const as = (id: number) => agentCaller({ id, projectId })
    const sealed = await send(
      hub,
      { ...registered('GreenCastle', project), caller: as(green) },
      { to: [{ name: 'BlueLake' }], subject: 'x', body: 'x', enclosing: { paths: ['data:text/plain,sealed'] } },
    )
    const hash = hashOf(sealed.attachments)
    for (const caller of [as(green), as(blue), operator]) expect(await text(caller, hash)).toBe('sealed')
    for (const caller of [as(white), local]) for (const place of [undefined, project]) await hidden(caller, hash, place)
    await hub.close()
  })

  verifies('mail.attach.resource', 'is found of messages from before, too', async () => {
    const { hub, db, send, inbox } = await startAttachments(open, { keepOriginals: true })
    const picture = uriOf('image/png', await drawing().png().toBuffer())
    const { attachments } = await send({ body: `![it](${picture})`, enclosing: { paths: ['data:text/plain,old'] } })
    const known = await db.all(sql`SELECT sha1, message_id FROM attachment_carriers ORDER BY sha1`)
    expect(known).toHaveLength(3)
    // As they were stored then: without the hash of an inline image.
    await db.tx(async (tx) => {
      const [row] = await tx.all<{ attachments: string }>(sql`SELECT attachments FROM messages`)
      const list = (JSON.parse(row?.attachments ?? '') as Record<string, unknown>[]).map((one) =>
        one.type === 'inline' ? { type: one.type, media_type: one.media_type, original_path: one.original_path } : one,
      )
      await tx.all(sql`UPDATE messages SET attachments = ${JSON.stringify(list)}`)
      await tx.all(sql`DROP TABLE attachment_carriers`)
      for (const statement of attachmentCarriers.up(tx.dialect, 0)) await tx.all(raw(statement))
    })
    const inline = attachments.find(({ kind }) => kind === 'inline')
    const hash = inline === undefined ? '' : hashOf([inline])
    expect(await db.all(sql`SELECT sha1, message_id FROM attachment_carriers ORDER BY sha1`)).toEqual(
      (known as { sha1: string }[]).filter(({ sha1 }) => sha1 !== hash),
    )
    const file = attachments.find(({ kind }) => kind === 'file')
    expect((await readByHash(hub, local, { sha1: file ? hashOf([file]) : '' })).bytes.toString()).toBe('old')
    // The image still comes once, and names no hash by which it is not found.
    const shown = (await inbox())[0]?.attachments.find(({ kind }) => kind === 'inline')
    expect(shown).toMatchObject({ sha1: undefined, inBody: true, dataUri: undefined })
    await hub.close()
  })

  verifies('mail.attach.resource', 'is found though the first message that carries it has lost it', async () => {
    const { hub, db, projectId, send: sendGreen } = await startAttachments(open)
    const enclosing = { paths: ['data:text/plain,same'] }
    const hash = hashOf((await sendGreen({ enclosing })).attachments)
    const away = '/srv/away'
    for (const name of ['QuietOwl', 'LoudOwl']) await register(hub, local, { project: away, name })
    const message = { to: [{ name: 'LoudOwl' }], subject: 'x', body: 'x', enclosing }
    expect(hashOf((await send(hub, registered('QuietOwl', away), message)).attachments)).toBe(hash)
    await db.tx((tx) => tx.all(sql`DELETE FROM attachments WHERE project_id = ${projectId}`))
    expect((await readByHash(hub, local, { sha1: hash })).bytes.toString()).toBe('same')
    await hub.close()
  })
})
